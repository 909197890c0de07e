package import Sharing
import UniformTypes

// The lines of `waft send` before its end. `to` is the value of `--to`.

/// An item that would be sent.
package struct PlannedLine: Line {
    package static let event = "item"

    /// From 0.
    package let item: Int
    package let name: String
    package let kind: String
    package let type: String
    /// Bytes.
    package let size: UInt64?
    /// Of a folder: files, folders and links, itself included.
    package let entries: UInt64?

    package init(_ number: Int, _ offered: OfferedItem) {
        item = number
        (name, kind, type) = (offered.name.text, offered.kind.rawValue, offered.type.identifier)
        (size, entries) = (offered.size, offered.kind == .tree ? offered.entries : nil)
    }
}

/// An item or an entry was left out.
package struct SkippedLine: Line {
    package static let event = "skipped"

    package let reason: String

    package init(reason: String) { self.reason = reason }
}

/// A sending was left to the daemon.
package struct QueuedLine: Line {
    package static let event = "queued"

    package let job: Int
    package let to: String
    package let count: Int
    /// Bytes.
    package let size: UInt64
    /// Whether a receiver is running that sends the job.
    package let daemon: Bool
    /// The user's name for the contact to whose key it goes; nil if it goes to no contact.
    @Unsaid package var contact: String?

    package init(job: Int, to: String, count: Int, size: UInt64, daemon: Bool, contact: String? = nil) {
        (self.job, self.to, self.count, self.size, self.daemon) = (job, to, count, size, daemon)
        self.contact = contact
    }
}

/// A sentence that the user should know before anything is sent.
package struct RemarkLine: Line {
    package static let event = "remark"

    package let to: String
    package let reason: String

    package init(to: String, reason: String) { (self.to, self.reason) = (to, reason) }
}

/// The items are offered.
package struct OfferedLine: Line {
    package static let event = "offered"

    package let to: String
    package let transfer: String
    /// The first `shownItems` of the items; `count` says how many there are.
    package let items: [ItemFields]
    package let count: Int
    /// Bytes of everything whose size is known.
    package let size: UInt64?
    /// Whether the other side keeps the part that has arrived, after an interruption.
    @Unsaid package var resumes: Bool

    package init(_ offer: Offer, to peer: String) {
        (to, transfer, size, resumes) = (peer, offer.transfer.text, offer.knownSize, offer.dialect.resumes)
        (items, count) = (ItemFields.first(of: offer), offer.items.count)
    }
}

/// The other side is busy, and is asked again.
package struct BusyLine: Line {
    package static let event = "busy"

    package let to: String
    package let reason: String?
    package let cause: EndCause?

    package init(to: String, reason: String?, cause: EndCause?) {
        (self.to, self.reason, self.cause) = (to, reason, cause)
    }
}

/// The other side has answered.
package struct VerdictLine: Line {
    package static let event = "answered"

    package let to: String
    /// The answers to the first `shownItems`.
    package let answers: [AnswerFields]
    package let acceptedCount: Int
    /// Of all items.
    package let count: Int

    package init(_ verdict: Verdict, to peer: String) {
        (to, answers) = (peer, AnswerFields.first(of: verdict.items, reason: \.reason))
        (acceptedCount, count) = (verdict.items.count { $0.answer == .accepted }, verdict.items.count)
    }
}

/// Contents have moved.
package struct SendingLine: Line {
    package static let event = "progress"

    package let to: String
    /// Bytes on the other side, and of all accepted items if that is known.
    package let bytes: UInt64
    package let total: UInt64?
    /// Bytes that were sent, in all attempts.
    @Unsaid package var moved: UInt64

    package init(to: String, bytes: UInt64, total: UInt64?, moved: UInt64 = 0) {
        (self.to, self.bytes, self.total, self.moved) = (to, bytes, total, moved)
    }
}

/// The connection was lost, and the transfer goes on over another one.
package struct ResumingLine: Line {
    package static let event = "resuming"

    package let to: String
    package let reason: String

    package init(to: String, reason: String) { (self.to, self.reason) = (to, reason) }
}

/// Everything is stored; the answers of handlers are waited for.
package struct HandlingLine: Line {
    package static let event = "handling"

    package let to: String

    package init(to: String) { self.to = to }
}

/// The last line of a command that has several.
package struct DoneLine: Line {
    package static let event = "done"

    package let exit: WaftExit

    package init(exit: WaftExit) { self.exit = exit }
}
