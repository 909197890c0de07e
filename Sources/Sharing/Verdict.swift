package import Digests

/// The receiver's answer to one item.
package struct ItemVerdict: Hashable, Sendable {
    package enum Answer: String, Sendable, Codable, CaseIterable {
        case accepted
        /// Somebody, or a rule, said no.
        case declined
        /// No document type or policy here covers it.
        case ineligible
        /// It does not fit on the receiver's disk.
        case noRoom
        /// Too much is going on; later it may be answered otherwise.
        case busy
        /// Nobody answered in time.
        case expired
    }

    package var answer: Answer
    /// One line for the sender's user: what and why. Empty where the answer says it all.
    package var reason: String
    /// What few verdicts have: an offer can have tens of thousands of items, and a sender holds a verdict on each.
    private var particulars: Particulars?

    private final class Particulars: Hashable, Sendable {
        let destination: Destination
        let hasKept: Bool
        let present: Digest?

        init(_ destination: Destination, hasKept: Bool, present: Digest?) {
            self.destination = destination
            self.hasKept = hasKept
            self.present = present
        }

        static func == (left: Particulars, right: Particulars) -> Bool {
            left.destination == right.destination && left.hasKept == right.hasKept && left.present == right.present
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(destination)
            hasher.combine(hasKept)
            hasher.combine(present)
        }
    }

    private mutating func set(_ destination: Destination, hasKept: Bool, present: Digest?) {
        let isPlain = destination == .usual && !hasKept && present == nil
        particulars = isPlain ? nil : Particulars(destination, hasKept: hasKept, present: present)
    }

    /// Where an accepted item goes; the sender hears nothing of it.
    package var destination: Destination {
        get { particulars?.destination ?? .usual }
        set { set(newValue, hasKept: hasKept, present: present) }
    }

    /// Whether something of the item is kept here from an earlier attempt. A courtesy: it may be gone a moment later.
    package var hasKept: Bool {
        get { particulars?.hasKept ?? false }
        set { set(destination, hasKept: newValue, present: present) }
    }

    /// The digest that such an item of this sender had when it was stored, where it seems to lie in the Inbox still. If
    /// the sender's has the same, it need not come again.
    package var present: Digest? {
        get { particulars?.present }
        set { set(destination, hasKept: hasKept, present: newValue) }
    }

    package init(_ answer: Answer, reason: String = "", destination: Destination = .usual) {
        self.answer = answer
        self.reason = reason
        set(destination, hasKept: false, present: nil)
    }

    package static let accepted = ItemVerdict(.accepted)

    /// The reason of an item that goes with others which are refused, because the sender wants all or nothing.
    package static let leftOut = ItemVerdict(
        .declined, reason: "it could be sent, but not all of this offer: --partial sends it without the rest")
}

/// The receiver's answer to an offer, item by item.
package struct Verdict: Sendable {
    /// As many as the offer has items, in their order.
    package var items: [ItemVerdict]
    /// The digest to be used in this transfer: one that the sender offered.
    package var digest: DigestAlgorithm

    package init(items: [ItemVerdict], digest: DigestAlgorithm = .xxh3_128) {
        self.items = items
        self.digest = digest
    }

    /// The same answer to `count` items.
    package init(all verdict: ItemVerdict, count: Int, digest: DigestAlgorithm = .xxh3_128) {
        self.init(items: Array(repeating: verdict, count: count), digest: digest)
    }

    package var acceptsAnything: Bool { items.contains { $0.answer == .accepted } }
}
