import Sharing

/// Events for a watching command, one a line, after the reply to `watch` on the control socket. The first are `ready`, if the
/// receiver can be reached, `visibility`, and the waiting offers. Commands ignore unknown events.
package enum ControlEvent: Codable, Sendable, Equatable {
    /// The receiver can be reached.
    case ready(ReadyLine)
    /// An offer waits for an answer.
    case offer(OfferLine)
    /// An offer that has waited was answered or withdrawn, or its time was up; or one without a number was accepted without a
    /// question, wholly or in part.
    case answered(AnsweredLine)
    /// A transfer has moved on. A few times a second at most.
    case progress(ArrivingLine)
    /// An item is in the Inbox, a handler has answered for it, or it has left.
    case arrival(ArrivalLine)
    /// The settings were read again, and are in effect or not.
    case settings(SettingsLine)
    /// The visibility: at the beginning, and when it was chosen or a time has ended.
    case visibility(VisibilityLine)
    /// The contacts may have changed.
    case contacts
    /// The receiver was locked or unlocked.
    case protection(LockLine)
    /// A transfer is over.
    case ended(ArrivedLine)
}

extension ControlEvent {
    /// As `waft offers --watch --json` prints it: that of `waft receive --json`, with fields for the answer.
    package var line: any Line {
        switch self {
        case .ready(let line): line
        case .offer(let line): line
        case .answered(let line): line
        case .progress(let line): line
        case .arrival(let line): line
        case .settings(let line): line
        case .visibility(let line): line.counted(at: .now)
        case .contacts: ContactsLine()
        case .protection(let line): line
        case .ended(let line): line
        }
    }
}
