import ContentCheck
import Control
import Endpoints
import HandlerCatalog
import Handlers
import Inbox
import Journal
import Lines
import Settings
import Sharing

/// Writes to the journal from a command: through the running receiver, or directly if none is running.
enum JournalWriting {
    /// A receiver may start or stop between the two ways.
    private static let tries = 3

    static func departed(
        _ number: ArrivalNumber, _ how: Departure.How, toward: String
    ) async throws(CommandError) {
        let folder = try CommandContext.forgiving.home.state
        var failure = CommandError(.unexpected, "the receiver gave no answer")
        for _ in 0..<tries {
            switch try await Daemon.askIfRunning(.departed(arrival: number.value, how: how, toward: toward)) {
            case .done: return
            case .refused(let reason): throw CommandError(.unexpected, reason)
            case nil: break
            default: throw failure
            }
            do throws(JournalError) {
                try Journal(folder: folder, dialects: .known).departed(
                    [number], Departure(how, at: .now, toward: toward))
                return
            } catch {
                failure = CommandError(.unexpected, error.description)
            }
        }
        throw failure
    }
}
