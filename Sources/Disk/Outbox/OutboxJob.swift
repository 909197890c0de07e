package import Sharing
import UniformTypes

/// The number of a job in the outbox: 1 and up, never assigned twice.
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

/// The user's request to send: written once, when it is queued, and never changed.
package struct OutboxJob: Codable, Sendable, Equatable {
    /// The receiver.
    package struct Destination: Codable, Sendable, Equatable {
        /// The value of `--to`.
        package var text: String
        /// The key of the chosen contact; nil if the receiver was no contact.
        package var key: PeerID?

        package init(text: String, key: PeerID? = nil) {
            self.text = text
            self.key = key
        }
    }

    /// The options of `waft send`.
    package struct Options: Codable, Sendable, Equatable {
        package var annotation: [String: String]
        /// Whether the remaining items are sent if others cannot be sent.
        package var takesPart: Bool
        /// Whether the job is done only when a handler has opened the items.
        package var waitsForHandlers: Bool
        /// The same for all jobs that may be sent as a group: those of one command.
        package var group: String?

        package init(
            annotation: [String: String] = [:], takesPart: Bool = false, waitsForHandlers: Bool = false,
            group: String? = nil
        ) {
            (self.annotation, self.takesPart) = (annotation, takesPart)
            (self.waitsForHandlers, self.group) = (waitsForHandlers, group)
        }
    }

    /// Version 1 had no check digits in the key and no checksum.
    static let version = 2

    /// The version of this document.
    package var v = Self.version
    package var number: JobNumber
    /// Milliseconds since 1970-01-01 UTC.
    package var queued: Int64
    /// When the job is given up; milliseconds since 1970-01-01 UTC.
    package var expires: Int64
    package var destination: Destination
    package var options: Options
    /// 1 to `Limits.items`.
    package var items: [OutboxItem]
    /// The identifier of the transfer in the first offer.
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

    /// Total bytes of the items of known size.
    package var size: UInt64 {
        items.reduce(0) { total, item in
            let (sum, overflow) = total.addingReportingOverflow(item.size ?? 0)
            return overflow ? .max : sum
        }
    }
}

/// One item to send.
package struct OutboxItem: Codable, Sendable, Equatable {
    /// The origin of the contents.
    package enum Content: Codable, Sendable, Equatable {
        /// The file or folder at an absolute path: it must not change.
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
    /// The user's name for the item: a path, `-`, or a kind.
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
