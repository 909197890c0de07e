import Lines
import Sharing
import UniformTypes

/// Lines of `waft send`. `to` is the value of `--to`.
extension EventLine {
    struct PlannedItem: Encodable {
        var item: Int
        var name: String
        var kind: String
        var type: String
        var size: UInt64?
        var entries: UInt64?

        init(_ number: Int, _ offered: OfferedItem) {
            item = number
            (name, kind, type) = (offered.name.text, offered.kind.rawValue, offered.type.identifier)
            (size, entries) = (offered.size, offered.kind == .tree ? offered.entries : nil)
        }
    }

    struct Skipped: Encodable {
        var reason: String
    }

    struct Queued: Encodable {
        var job: Int
        var to: String
        var count: Int
        var size: UInt64
        /// Whether a receiver is running that sends the job.
        var daemon: Bool
    }

    /// A line that the user should know before anything is sent.
    struct Remark: Encodable {
        var to: String
        var reason: String
    }

    struct Offered: Encodable {
        var to: String
        var transfer: String
        /// The first `shownItems` of the items; `count` says how many there are.
        var items: [ItemFields]
        var count: Int
        var size: UInt64?

        init(_ offer: Offer, to peer: String) {
            (to, transfer, size) = (peer, offer.transfer.text, offer.knownSize)
            (items, count) = (ItemFields.first(of: offer), offer.items.count)
        }
    }

    struct Busy: Encodable {
        var to: String
        var reason: String?
        var cause: EndCause?
    }

    struct Resuming: Encodable {
        var to: String
        var reason: String
    }

    struct Handling: Encodable {
        var to: String
    }

    /// An item of a transfer that has ended.
    struct SentItem: Encodable {
        var to: String
        /// Absent for a peer without a key and a name.
        var peer: Peer?
        /// The dialect of the transfer: `waft` and others.
        var via: String
        var transfer: String
        var item: Int
        /// The name that was offered.
        var name: String
        /// In the last line of a report: bytes of contents that were sent, in all attempts.
        var moved: UInt64?
    }

    /// An item as the other side has stored it.
    struct SentCopy: Encodable {
        /// The name it has in the Inbox of the other side.
        var stored: String
        var size: UInt64
        var digest: String
        /// The item had been stored before, and nothing was stored now.
        var alreadyThere: Bool?
        /// Such an item was recorded as sent again: the handler's answer is about this transfer.
        var sentAgain: Bool?
    }

    /// The other side's findings about an item: the comparison of content and type, and its handler's answer.
    struct Findings: Encodable {
        /// `consistent`, `unverified`, `mislabelled`, `lying`.
        var content: String?
        var handlerAnswer: String?
        var exitCode: Int?
    }

    struct Sent: FieldGroups {
        private struct Amount: Encodable {
            var size: UInt64?
        }

        var item: SentItem
        var size: UInt64?

        var groups: [any Encodable] { [item, Amount(size: size)] }
    }
}
