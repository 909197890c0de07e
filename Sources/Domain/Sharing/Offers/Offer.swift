package import Digests
package import UniformTypes

/// The number of a transfer: 128 random bits, made by the sender, written as 32 hexadecimal digits.
package struct TransferID: Hashable, Sendable, CustomStringConvertible {
    package let text: String

    package var description: String { text }

    /// A new one from the system's random numbers.
    package init() {
        var generator = SystemRandomNumberGenerator()
        let halves = [generator.next(), generator.next()] as [UInt64]
        self.text = halves.map { half in
            let digits = String(half, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    /// - Returns: nil unless `text` is 32 lower-case hexadecimal digits.
    package init?(_ text: String) {
        guard text.utf8.count == 32 else { return nil }
        for byte in text.utf8 {
            guard (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte) else { return nil }
        }
        self.text = text
    }
}

/// The kind of an activity item; decides its form in the Inbox.
package enum ItemKind: String, Sendable, Codable, CaseIterable {
    /// One regular file, or data piped in.
    case file
    /// A folder with everything in it.
    case tree
    /// A URL; its contents are an Internet Shortcut, stored as a `.url` file.
    case url
    /// A text; stored as a `.txt` file.
    case text

    /// Whether it is a message: each transfer of it is an arrival of its own, even where equal bytes lie in the Inbox.
    package var isMessage: Bool { self == .url || self == .text }
}

/// How far an offer binds the contents that follow it.
package enum OfferBinding: Sendable {
    /// Items come in the order of the offer, each with the size that it says.
    case exact
    /// For protocols whose offers are announcements: items come in any order, each once, and its size is the most that
    /// may come.
    case announced
    /// For protocols in which each file is a request of its own, and has an answer of its own: the files of all items come
    /// in any order, each with the size that the offer says. A file that fails can come again. An item is stored with its
    /// last file.
    case scattered
}

/// One activity item as it stands in an offer: everything that is known before any content moves.
package struct OfferedItem: Hashable, Sendable {
    package var kind: ItemKind
    package var name: SafeName
    package var type: UniformType
    /// Bytes of all its contents; nil if the sender cannot know (standard input).
    package var size: UInt64?
    /// Files, folders and links in it, itself included: 1 for anything but a tree; nil for a tree whose sender cannot
    /// say. 1 to `Limits.entriesPerItem`.
    package var entries: UInt64?
    /// Bytes that the sender expects if `size` is nil: shown to people, and no bound.
    package var sizeHint: UInt64?
    /// Kept only while the offer waits for its verdict.
    package var preview: ItemPreview?
    /// Of a tree whose sender says so. Kept only until the disk was asked.
    package var needs: DiskNeeds?

    package init(kind: ItemKind, name: SafeName, type: UniformType, size: UInt64?, entries: UInt64? = 1) {
        self.kind = kind
        self.name = name
        self.type = type
        self.size = size
        self.entries = entries
    }
}

/// The typed list of items that a sender asks to send, with no content.
package struct Offer: Sendable {
    package var transfer: TransferID
    /// 1...`Limits.items` of them; an item's number is its place here.
    package var items: [OfferedItem]
    /// Free facts for the other side's handler, `note` among them.
    package var annotation: [String: String]
    /// The sender's name for itself: for display, never a ground for a decision.
    package var senderName: String
    /// The digests the sender can compute, best first.
    package var digests: [DigestAlgorithm]
    /// Whether the items that can be sent are to be sent when others cannot.
    package var takesPart: Bool
    /// The protocol of the offer. The dialect itself sets it, never the sender.
    package var dialect: Dialect
    /// How long its sender waits for the answer; nil if it does not say so.
    package var wait: Duration?

    /// Whether the handlers are to be asked about each item, also about one that is in the Inbox already.
    package var asksHandlers: Bool

    /// Nil for an offer to this peer alone.
    package var group: OfferedGroup?

    /// The reception sets it, never the sender.
    package var origin = OfferOrigin()

    package init(
        transfer: TransferID = TransferID(),
        items: [OfferedItem],
        annotation: [String: String] = [:],
        senderName: String,
        digests: [DigestAlgorithm] = [.xxh3_128, .sha256],
        takesPart: Bool = false,
        asksHandlers: Bool = false,
        dialect: Dialect
    ) {
        self.transfer = transfer
        self.items = items
        self.annotation = annotation
        self.senderName = senderName
        self.digests = digests
        self.takesPart = takesPart
        self.asksHandlers = asksHandlers
        self.dialect = dialect
    }

    /// Files, folders and links in all items; 1 for an item whose number of entries is unknown.
    package var knownEntries: UInt64 { items.reduce(0) { $0 + ($1.entries ?? 1) } }

    /// The disk space of all items, as far as their sizes are known.
    package var knownFootprint: Footprint { Footprint(bytes: knownSize, entries: knownEntries) }

    /// Bytes of everything whose size is known; saturates instead of overflowing.
    package var knownSize: UInt64 { Self.sum(items) { $0.size } }

    /// Bytes of everything that has a hint in place of a size; saturates instead of overflowing.
    package var hintedSize: UInt64 { Self.sum(items) { $0.size == nil ? $0.sizeHint : nil } }

    /// The size of all items as people read it.
    package var sizeText: String {
        ByteCount.total(
            knownSize, hinted: hintedSize, isComplete: items.allSatisfy { $0.size != nil || $0.sizeHint != nil })
    }

    private static func sum(_ items: [OfferedItem], _ size: (OfferedItem) -> UInt64?) -> UInt64 {
        items.reduce(0) { sum, item in
            let (total, overflow) = sum.addingReportingOverflow(size(item) ?? 0)
            return overflow ? .max : total
        }
    }
}
