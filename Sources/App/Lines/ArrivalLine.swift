import ContentCheck
import Digests
package import Sharing
import UniformTypes

/// A receiver can be reached.
package struct ReadyLine: Line, Codable, Equatable {
    package static let event = "ready"

    /// The whole id.
    package var id: String
    package var name: String
    package var port: Int
    package var inbox: String
    /// The visibility at the start; it may change later.
    @Unsaid package var visibility: String

    package init(id: String, name: String, port: Int, inbox: String, visibility: String) {
        (self.id, self.name, self.port, self.inbox) = (id, name, port, inbox)
        self.visibility = visibility
    }
}

/// The name of an entry was changed on arrival, or the entry was left out.
package struct AlteredLine: Line {
    package static let event = "altered"

    package var from: PersonFields
    package var via: String
    package var transfer: String
    /// As the sender calls it.
    package var name: String
    package var reason: String

    package init(_ offer: Offer, from peer: PersonFields, entry: String, reason: String) {
        (from, via, transfer) = (peer, offer.dialect.name, offer.transfer.text)
        (name, self.reason) = (entry, reason)
    }
}

/// A transfer at the receiver has moved on.
package struct ArrivingLine: Line, Codable, Equatable {
    package static let event = "progress"

    /// Absent for a peer that proved no key.
    package var from: PersonFields?
    package var transfer: String
    /// Bytes that have come, and of all accepted items.
    package var bytes: UInt64
    package var total: UInt64

    package init(_ transfer: TransferID, from peer: PeerID, bytes: UInt64, of total: UInt64) {
        from = peer.provenText.map { PersonFields(id: $0) }
        (self.transfer, self.bytes, self.total) = (transfer.text, bytes, total)
    }
}

/// The end of a transfer at the receiver.
package struct ArrivedLine: Line, Codable, Equatable {
    package static let event = "done"

    package var event: String { isFailed ? "failed" : Self.event }

    /// Absent for a peer that proved no key.
    package var from: PersonFields?
    package var transfer: String
    /// Why it failed, or why some of its items were not stored.
    package var reason: String?
    package var cause: EndCause?
    @Unsaid package var isFailed: Bool
    /// Items that did not come, and all of them.
    @Unsaid package var missing: Int
    @Unsaid package var count: Int

    /// - Parameter fault: why the transfer failed; nil if it did not.
    package init(_ transfer: TransferID, from peer: PeerID, _ fault: TransferError?, _ receipt: Receipt? = nil) {
        from = peer.provenText.map { PersonFields(id: $0) }
        self.transfer = transfer.text
        (reason, cause, isFailed) = (fault?.message ?? receipt?.failures, fault?.cause, fault != nil)
        (missing, count) = (receipt?.items.count { !$0.isStored } ?? 0, receipt?.items.count ?? 0)
    }
}

/// An item that has arrived, or a later event about it.
package struct ArrivalLine: Line, Codable, Equatable {
    package static let event = Change.stored.rawValue

    package var event: String { change.rawValue }

    package enum Change: String, Codable, Sendable {
        case stored
        /// A handler has answered: yes, later, and anything else.
        case opened, deferred, failed
        /// It has left the Inbox: to a folder, for good, or to a handler.
        case taken, removed, gone
    }

    package var from: PersonFields
    /// The dialect of the transfer: `waft` and others.
    package var via: String?
    package var transfer: String
    /// The number of the arrival, for `waft inbox show`.
    package var arrival: Int64
    /// The arrival that stored the item, of one that only called for it again.
    package var again: Int64?
    /// Place of the item in its offer, from 0.
    package var item: Int
    /// The name that was offered.
    package var name: String
    /// The name it has in the Inbox.
    package var stored: String
    package var path: String
    package var type: String
    /// Bytes.
    package var size: UInt64
    package var digest: String
    /// The result of comparing content and type: `ContentVerdict.Outcome`.
    package var content: String?
    /// `HandlerAnswer.State`.
    package private(set) var handlerAnswer: String?
    package private(set) var exitCode: Int?
    package private(set) var reason: String?
    /// The new path of an item that was taken, or the identifier of the handler that got it.
    package private(set) var toward: String?
    @Unsaid package private(set) var change: Change
    /// `ItemKind`.
    @Unsaid package private(set) var kind: String
    @Unsaid package private(set) var isSealed: Bool
    /// Why `content` is so.
    @Unsaid package private(set) var contentExplanation: String?

    /// Whether it has left the Inbox.
    package var hasLeft: Bool { [.taken, .removed, .gone].contains(change) }

    /// The sender's id, or an unproven one if the sender proved no key. Nil if it cannot be read.
    package func sender(_ dialects: DialectTable) -> PeerID? {
        if let id = from.id { return PeerID(text: id) }
        return via.map { .unproven(dialects[$0], seed: []) }
    }

    package init(_ arrival: Arrival, from peer: PersonFields) {
        (from, via, transfer) = (peer, arrival.dialect.name, arrival.transfer.text)
        (self.arrival, item, name) = (arrival.number.value, arrival.itemNumber, arrival.item.name.text)
        (again, stored, path) = (arrival.again?.value, arrival.stored.name.text, arrival.stored.path)
        (type, size, digest) = (arrival.item.type.identifier, arrival.size, arrival.digest.description)
        (content, contentExplanation) = (arrival.content?.outcome.rawValue, arrival.content?.explanation)
        (change, kind, isSealed) = (.stored, arrival.item.kind.rawValue, arrival.protection.isSealed)
    }

    /// The line for a handler's answer.
    package func answered(_ answer: HandlerAnswer) -> Self {
        var line = self
        (line.handlerAnswer, line.exitCode) = (answer.state.rawValue, answer.exitCode)
        (line.change, line.reason) =
            switch answer.state {
            case .yes: (.opened, nil)
            case .later, .pending: (.deferred, "its handler wants to be asked again later")
            case .no: (.failed, "no handler wants it")
            case .none: (.failed, "no handler was asked")
            case .failed: (.failed, "the handler failed")
            }
        return line
    }

    /// The line for an item that has left the Inbox.
    package func left(_ departure: Departure) -> Self {
        var line = self
        line.change =
            switch departure.how {
            case .taken: .taken
            case .removed: .removed
            case .handler: .gone
            }
        line.toward = departure.how == .removed ? nil : departure.toward
        return line
    }
}
