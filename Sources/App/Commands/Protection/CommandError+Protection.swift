import Lines
import Protection

extension CommandError {
    static let unlockHint = "unlock it with: waft unlock"

    /// A sealed item cannot be opened now.
    static func locked(_ reason: String) -> CommandError {
        CommandError(.locked, TerminalText.escaped(reason, limit: 1_000), hint: unlockHint)
    }

    static let notSetUp = CommandError(
        .usage, "data protection is not set up", hint: "set it up with: waft protection set-up")

    static let isDropBox = CommandError(
        .locked, "this machine is a drop box: its private keys are elsewhere, and nothing can be opened here")

    init(_ error: VaultError) {
        let line = TerminalText.escaped(error.description, limit: 1_000)
        switch error.code {
        case .locked: self = .locked(error.description)
        case .noIdentity: self = .isDropBox
        case .notSetUp: self = .notSetUp
        case .wrongPassphrase: self.init(.locked, line)
        case .alreadySetUp:
            self.init(
                .usage, line,
                hint:
                    "to change it: waft protection passphrase, waft protection rotate, waft config set protection CLASS"
            )
        case .unfit: self.init(.usage, line)
        case .foreign: self.init(.contentChanged, line)
        case .swapped: self.init(.unexpected, line, hint: "to put your own keys back: waft unlock --restore")
        case .damaged, .storage: self.init(.unexpected, line)
        }
    }

    static func catching<Value>(_ body: () throws(VaultError) -> Value) throws(CommandError) -> Value {
        do throws(VaultError) { return try body() } catch { throw CommandError(error) }
    }
}
