import Glibc
import Lines
import Operations

/// A verb that decides for the user: about contacts, received items or handlers. Handlers run with the user's uid but
/// may not run these verbs, because they process content from strangers.
protocol UserDecision {
    /// Whether the given arguments change anything.
    var decides: Bool { get }
}

extension UserDecision {
    var decides: Bool { true }

    /// - Throws: `CommandError` `notPermitted` if a handler has started this command.
    func refuseHandlers() throws(CommandError) {
        guard decides, Waft.isBelowHandler else { return }
        throw CommandError(
            .notPermitted, "a handler has started this command, and handlers do not decide for the user",
            hint: "run it in a terminal that no handler has opened")
    }
}

extension AcceptCommand: UserDecision {}
extension DeclineCommand: UserDecision {}
extension PairCommand: UserDecision {}
extension VisibleCommand: UserDecision {
    var decides: Bool { who != nil }
}
extension ContactsAllowCommand: UserDecision {}
extension ContactsSetCommand: UserDecision {}
extension ContactsRenameCommand: UserDecision {}
extension ContactsForgetCommand: UserDecision {}
extension ContactsBlockCommand: UserDecision {}
extension ContactsUnblockCommand: UserDecision {}
extension PeersAddCommand: UserDecision {}
extension PeersRemoveCommand: UserDecision {}
extension HandlersAddCommand: UserDecision {}
extension HandlersRemoveCommand: UserDecision {}
extension HandlersEnableCommand: UserDecision {}
extension HandlersDisableCommand: UserDecision {}
extension HandlersDefaultCommand: UserDecision {}
extension ProtectionSetUpCommand: UserDecision {}
extension ProtectionPassphraseCommand: UserDecision {}
extension ProtectionRotateCommand: UserDecision {}
extension UnlockCommand: UserDecision {}
extension LockCommand: UserDecision {}
// These verbs bring their own rules for received items.
extension ReceiveCommand: UserDecision {}
extension WebCommand: UserDecision {}
extension DeskCommand: UserDecision {}
extension WaftDaemonCommand: UserDecision {}
