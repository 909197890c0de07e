import Control
import Endpoints
import Settings
import Sharing

extension Daemon {
    /// Answers an offer.
    /// - Returns: accepted items that seem to be in the Inbox already.
    static func answer(_ request: ControlRequest) async throws(CommandError) -> [PresentItem] {
        switch try await ask(request) {
        case .done: return []
        case .accepted(let present): return present
        case .unknown(let reason):
            throw CommandError(.inputMissing, TerminalText.escaped(reason), hint: "see: waft offers")
        case .refused(let reason): throw CommandError(.usage, TerminalText.escaped(reason))
        default: throw CommandError(.unexpected, "the receiver gave no answer")
        }
    }
}
