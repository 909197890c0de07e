import Glibc
import HookSandbox

/// A verb that decides for the user: who is known, what is taken, what opens what. Handlers have the user's uid, and may
/// not use it: they are there for what others have sent.
protocol UserDecision {
    /// Whether it decides anything with the words that it was given.
    var decides: Bool { get }
}

extension UserDecision {
    var decides: Bool { true }

    /// - Throws: `CommandFailure` `notPermitted` where a handler has started this command.
    func refuseHandlers() throws(CommandFailure) {
        // Where it cannot be told, the receiver still asks who speaks to it.
        guard decides, [.handler, .receiver].contains(ProcessDescent.of(getpid())) else { return }
        throw CommandFailure(
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
extension HandlersAddCommand: UserDecision {}
extension HandlersRemoveCommand: UserDecision {}
extension HandlersEnableCommand: UserDecision {}
extension HandlersDisableCommand: UserDecision {}
extension HandlersDefaultCommand: UserDecision {}
// They come with rules of their own for what is taken.
extension ReceiveCommand: UserDecision {}
extension WaftDaemonCommand: UserDecision {}
