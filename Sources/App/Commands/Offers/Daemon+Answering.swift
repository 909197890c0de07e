import Control
import Endpoints
import Lines
import Settings
import Sharing

extension Daemon {
    /// Offers that are listed if none is named.
    private static let shownOffers = 10

    /// The number of the offer that the user named. A waiting offer that is not named is listed and not answered:
    /// another one could have come in the meantime.
    /// - Throws: `CommandError` `usage` without a number.
    static func named(_ number: Int?, verb: String) async throws(CommandError) -> Int {
        if let number { return number }
        guard case .offers(let offers) = try await ask(.offers) else {
            throw CommandError(.unexpected, "the receiver gave no offers")
        }
        guard !offers.isEmpty else {
            throw CommandError(
                .inputMissing, "no offer waits for an answer", hint: "to see the next one: waft offers --watch")
        }
        let lines = offers.prefix(shownOffers).flatMap { OfferText.lines(.offer($0)) }
        let rest = offers.count > shownOffers ? ["and \(offers.count - shownOffers) more; see: waft offers"] : []
        throw CommandError(
            .usage, "an offer is named by its number; type: waft \(verb) \(offers[0].number)", others: lines + rest)
    }

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
