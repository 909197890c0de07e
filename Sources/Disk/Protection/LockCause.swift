/// Why a receiver was locked.
package enum LockCause: String, Sendable, Codable, CaseIterable {
    /// `waft lock`.
    case command
    /// No sealed item was opened for the time of `lockAfter`.
    case idle
    /// The screen of a session was locked.
    case screen
    /// A program asked for the lock of a session, as `loginctl lock-session` does.
    case request
    /// The machine went to sleep.
    case sleep
    /// The last graphical session has ended.
    case nobody
    /// The screen saver has begun.
    case screenSaver
    /// The system bus was lost, and with it the news of the screen.
    case bus
    /// logind was lost, and with it the news of the screen.
    case logind
    /// The receiver ends.
    case stopping

    /// A clause for people.
    package var words: String {
        switch self {
        case .command: "waft lock"
        case .idle: "no sealed item was opened for the time of lockAfter"
        case .screen: "the screen was locked"
        case .request: "a program asked for the lock of the session"
        case .sleep: "the machine went to sleep"
        case .nobody: "the last graphical session has ended"
        case .screenSaver: "the screen saver began"
        case .bus: "the system bus was lost"
        case .logind: "logind was lost"
        case .stopping: "the receiver ended"
        }
    }
}
