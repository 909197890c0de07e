import Control
import Endpoints
import Inbox
import Journal
import Settings
import Sharing

/// A verb that names items of the Inbox. Before it runs, the journal learns the names and the places that their user has
/// given them since.
protocol InboxItemVerb {}

extension HistoryCommand: InboxItemVerb {}
extension InboxCatCommand: InboxItemVerb {}
extension InboxListCommand: InboxItemVerb {}
extension InboxOpenCommand: InboxItemVerb {}
extension InboxOpenInCommand: InboxItemVerb {}
extension InboxOptionsCommand: InboxItemVerb {}
extension InboxPreviewCommand: InboxItemVerb {}
extension InboxProtectCommand: InboxItemVerb {}
extension InboxRemoveCommand: InboxItemVerb {}
extension InboxRetryCommand: InboxItemVerb {}
extension InboxShowCommand: InboxItemVerb {}
extension InboxTakeCommand: InboxItemVerb {}
extension InboxUnprotectCommand: InboxItemVerb {}
extension InboxVerifyCommand: InboxItemVerb {}

/// Items that their user has renamed, or moved inside the Inbox.
enum RenamedItems {
    /// Writes their names and places into the journal: through the running receiver, or directly if none is running. A
    /// fault of the journal is left to the verb, which meets it too.
    static func follow() async {
        guard let context = try? CommandContext.forgiving, let inbox = try? context.inbox,
            let places = try? JournalReading.read({ reader throws(JournalError) in try reader.placesThere() })
        else { return }
        let moved = InboxRenames.find(places, inbox: inbox)
        if moved.isEmpty { return }
        do throws(CommandError) {
            if try await Daemon.askIfRunning(.followRenames) != nil { return }
        } catch {
            return
        }
        try? Journal(folder: context.home.state, dialects: .known).moved(moved, at: .now)
    }
}
