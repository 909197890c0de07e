public import Foundation
import Lines

/// Things that somebody wants to send here. The receiver waits for an answer.
public struct Offer: Sendable, Hashable, Identifiable {
    /// What a person says to an offer.
    public enum Answer: Sendable, Hashable {
        case accept
        /// Places of items in the offer, from 0. The others are declined.
        case acceptItems([Int])
        case decline
        /// Declines, also everything else that its sender will offer.
        case block
    }

    /// Its number, while it waits.
    public let id: Int
    /// The sender.
    public let from: Peer
    /// The first 100.
    public let items: [Item]
    /// Number of all items.
    public let count: Int
    /// Bytes of everything whose size is known.
    public let size: UInt64?
    /// The sender's words about it; one line.
    public let subject: String?
    /// The end of the time for an answer.
    public let expires: Date?

    /// Nil for an offer that does not wait.
    init?(_ line: OfferLine) {
        guard let number = line.offer else { return nil }
        let from = Peer(line.from)
        (id, self.from, items) = (number, from, line.items.map { Item($0, from) })
        (count, size, subject, expires) = (line.count, line.size, line.subject, line.expires?.date)
    }
}
