package import Sharing
import UniformTypes

/// The outcome of an offer.
package struct SettledOffer: Codable, Sendable, Equatable {
    package struct Answer: Codable, Sendable, Equatable {
        /// `ItemVerdict.Answer`.
        package var answer: String
        package var reason: String?
        /// Nil for an accepted item.
        package var cause: EndCause?
    }

    /// Nil for an offer that did not wait.
    package var number: Int?
    package var transfer: String
    /// The whole id of its key; nil for a peer that proved none.
    package var peer: String?
    /// The dialect of the offer.
    package var via: String?
    /// The name that the peer gives itself.
    package var peerName: String
    /// The user's name for the peer; nil for a stranger.
    package var contact: String?
    /// The contact whose name a stranger gives itself: the user's name for it.
    package var claims: String?
    /// Items of it that are taken, and all.
    package var accepted: Int
    package var itemCount: Int
    /// The first `OfferSummary.shownItems` of an offer that did not wait; nil for one that did.
    package var items: [OfferSummary.Item]?
    /// Bytes of everything whose size is known; nil for an offer that has waited.
    package var size: UInt64?
    /// Of the first `OfferSummary.shownItems`.
    package var answers: [Answer]

    /// Whether it was not answered in time, or withdrawn.
    package var isExpired: Bool { answers.contains { $0.answer == ItemVerdict.Answer.expired.rawValue } }

    package init(_ number: Int?, _ offer: Offer, from peer: PeerID, _ sender: Introduction, verdicts: [ItemVerdict]) {
        self.number = number
        self.peer = peer.provenText
        via = offer.dialect.name
        transfer = offer.transfer.text
        peerName = offer.senderName
        (contact, claims) = (sender.contact, sender.claims)
        accepted = verdicts.count { $0.answer == .accepted }
        itemCount = offer.items.count
        if number == nil {
            items = offer.items.prefix(OfferSummary.shownItems).map(OfferSummary.Item.init)
            size = offer.knownSize
        }
        answers = verdicts.prefix(OfferSummary.shownItems).map { verdict in
            Answer(
                answer: verdict.answer.rawValue, reason: verdict.reason.isEmpty ? nil : verdict.reasonHere,
                cause: verdict.cause)
        }
    }
}
