package import Sharing
import UniformTypes

/// The number of a job in the outbox: 1 and up, never given twice.
package struct JobNumber: Hashable, Sendable, Comparable, Codable, CustomStringConvertible {
    package let value: Int

    package init(_ value: Int) {
        self.value = value
    }

    package var description: String { String(value) }

    package static func < (left: Self, right: Self) -> Bool { left.value < right.value }

    package init(from decoder: any Decoder) throws {
        value = try decoder.singleValueContainer().decode(Int.self)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

/// What somebody wants sent: written once, when it is queued, and never changed.
package struct OutboxJob: Codable, Sendable, Equatable {
    /// To whom.
    package struct Destination: Codable, Sendable, Equatable {
        /// What `--to` said.
        package var text: String
        /// The key of the contact that was meant; nil where it was none.
        package var key: PeerID?

        package init(text: String, key: PeerID? = nil) {
            self.text = text
            self.key = key
        }
    }

    /// How: as the options of `waft send` say.
    package struct Options: Codable, Sendable, Equatable {
        package var annotation: [String: String]
        /// Whether what can be sent is sent when other items cannot.
        package var takesPart: Bool
        /// Whether it is done only when a handler has opened it.
        package var waitsForHandlers: Bool

        package init(
            annotation: [String: String] = [:], takesPart: Bool = false, waitsForHandlers: Bool = false
        ) {
            self.annotation = annotation
            self.takesPart = takesPart
            self.waitsForHandlers = waitsForHandlers
        }
    }

    /// Version 1 had no check digits in the key and no checksum.
    static let version = 2

    /// The version of this form.
    package var v = Self.version
    package var number: JobNumber
    /// Milliseconds since 1970-01-01 UTC.
    package var queued: Int64
    /// When it is given up.
    package var expires: Int64
    package var destination: Destination
    package var options: Options
    /// 1 to `Limits.items`.
    package var items: [OutboxItem]
    /// The transfer as which it is offered first.
    package var transfer: String

    package init(
        number: JobNumber,
        queued: WallTime,
        expires: WallTime,
        destination: Destination,
        options: Options = Options(),
        items: [OutboxItem],
        transfer: TransferID = TransferID()
    ) {
        self.number = number
        self.queued = queued.milliseconds
        self.expires = expires.milliseconds
        self.destination = destination
        self.options = options
        self.items = items
        self.transfer = transfer.text
    }

    /// Bytes of everything whose size is known.
    package var size: UInt64 {
        items.reduce(0) { total, item in
            let (sum, overflow) = total.addingReportingOverflow(item.size ?? 0)
            return overflow ? .max : sum
        }
    }
}

/// One thing to send.
package struct OutboxItem: Codable, Sendable, Equatable {
    /// Where its contents come from.
    package enum Content: Codable, Sendable, Equatable {
        /// What lies at an absolute path: it must not change.
        case path(String)
        /// A copy in the job's own folder.
        case spooled(String)
        case text(String)
        case url(String)
    }

    package var kind: ItemKind
    package var name: String
    package var type: String
    /// Bytes of contents.
    package var size: UInt64?
    package var entries: UInt64?
    package var content: Content
    /// What the user called it: a path, `-`, or a kind.
    package var origin: String
    /// The state in which a referenced file or folder was queued.
    package var stamp: SourceStamp?

    package init(_ offered: OfferedItem, origin: String, content: Content, stamp: SourceStamp? = nil) {
        kind = offered.kind
        name = offered.name.text
        type = offered.type.identifier
        size = offered.size
        entries = offered.entries
        self.content = content
        self.origin = origin
        self.stamp = stamp
    }
}
