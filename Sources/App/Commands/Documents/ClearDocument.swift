import Inbox
import Settings
import Sharing

/// The clear copy of a sealed item, for a program that a person has chosen. It lies in memory; the receiver removes it when
/// it locks or ends.
enum ClearDocument {
    /// Stands for all such programs, beside the handlers.
    private static let program = "org.waft.documents"

    /// - Throws: `CommandError`: `locked`; `noRoom` for an item that does not fit in memory.
    static func path(of arrival: Arrival) throws(CommandError) -> String {
        let context = try CommandContext(isForgiving: true)
        guard let folder = ClearFolder(candidates: context.home.clearFolders, isSwept: false),
            folder.folder(of: program) != nil
        else { throw tooLarge(arrival, "no folder in memory can hold its clear copy") }
        let most = context.settings.clearQuota ?? folder.free / 2
        guard arrival.size <= most else {
            throw tooLarge(arrival, "its clear copy takes more than \(ByteCount.text(most)) of memory (clearQuota)")
        }
        let inbox = try context.inbox
        do throws(LeavingError) {
            return try folder.copy(arrival, inbox: inbox, keys: ReceiverKeys.keys, for: program)
        } catch {
            throw Leaving.failure(error)
        }
    }

    static func remove(_ arrival: Arrival) {
        guard arrival.protection.isSealed, let context = try? CommandContext(isForgiving: true) else { return }
        ClearFolder(candidates: context.home.clearFolders, isSwept: false)?.remove(arrival.number, of: program)
    }

    private static func tooLarge(_ arrival: Arrival, _ reason: String) -> CommandError {
        CommandError(
            .noRoom, "\(arrival.number)  \(TerminalText.escaped(arrival.stored.name.text)): \(reason)",
            hint: "take it out with: waft inbox take")
    }
}
