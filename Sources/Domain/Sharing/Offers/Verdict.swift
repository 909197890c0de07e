package import Digests
package import UniformTypes

/// The receiver's answer to one item.
package struct ItemVerdict: Hashable, Sendable {
    package enum Answer: String, Sendable, Codable, CaseIterable {
        case accepted
        /// A user or a rule declined it.
        case declined
        /// No document type or policy here covers it.
        case ineligible
        /// It does not fit on the receiver's disk.
        case noRoom
        /// The receiver has too much to do; a moment later the answer may differ.
        case busy
        /// No answer came before the offer ended.
        case expired
    }

    package var answer: Answer
    /// One line for the sender's user: the refused thing and the reason. Empty if the answer is enough.
    package var reason: String
    /// Why it is not accepted; nil for an accepted item.
    package var cause: EndCause?
    /// Where an accepted item goes. Not sent to the sender.
    package var destination: Destination
    /// The content of an accepted item must have at least one type of each list: the item was accepted without a
    /// question because of them. Not sent to the sender.
    package var admittedAs: [[UniformType]] = []
    /// Whether something of the item is kept here from an earlier attempt. A courtesy: it may be gone a moment later.
    package var hasKept = false
    /// The digest that such an item of this sender had when it was stored, if it still seems to be in the Inbox. A
    /// sender whose item has the same digest need not send it again.
    package var present: Digest?

    /// - Parameter cause: nil for the usual one of `answer`.
    package init(
        _ answer: Answer, reason: String = "", destination: Destination = .usual, cause: EndCause? = nil
    ) {
        self.answer = answer
        self.reason = reason
        self.destination = destination
        self.cause = cause ?? answer.usualCause
    }

    package static let accepted = ItemVerdict(.accepted)

    /// The reason of an item that goes with others which are refused, because the sender wants all or nothing.
    package static let leftOut = ItemVerdict(
        .declined, reason: "not sent, because another item was refused; --partial sends what is accepted", cause: .rule)
}

/// The receiver's answer to an offer, item by item.
package struct Verdict: Sendable {
    /// As many as the offer has items, in their order.
    package var items: [ItemVerdict]
    /// The digest to be used in this transfer: one that the sender offered.
    package var digest: DigestAlgorithm
    /// Whether the receiver can pass the contents on to another member of the offer's group, with all that it needs for
    /// that reserved.
    package var mayRelay = false

    package init(items: [ItemVerdict], digest: DigestAlgorithm = .xxh3_128) {
        self.items = items
        self.digest = digest
    }

    /// The same answer to `count` items.
    package init(all verdict: ItemVerdict, count: Int, digest: DigestAlgorithm = .xxh3_128) {
        self.init(items: Array(repeating: verdict, count: count), digest: digest)
    }

    package var acceptsAnything: Bool { items.contains { $0.answer == .accepted } }

    /// Whether it is worth repeating the offer a moment later, without asking a person twice: an item is `busy`, and
    /// none is `declined` or `expired`.
    package var isWorthRepeating: Bool {
        items.contains { $0.answer == .busy } && !items.contains { [.declined, .expired].contains($0.answer) }
    }
}
