import ContentCheck
import Control
import Lines
import Sharing
import UniformTypes

extension EventLine {
    typealias Peer = PersonFields

    /// An item of an offer.
    struct Item: Encodable {
        /// Place of the item in its offer.
        var item: Int
        var name: String
        var kind: String
        var type: String
        var size: UInt64?
        /// Bytes that the sender expects if `size` is not known.
        var sizeHint: UInt64?
        /// Of a folder: files, folders and links, itself included.
        var entries: UInt64?
        /// Whether `waft offers preview` can show it.
        var hasPreview: Bool?
    }

    /// The answer to one item, and why.
    struct Answer: Encodable {
        var item: Int
        var answer: String
        var reason: String?
        /// Absent for an accepted item.
        var cause: EndCause?

        init(item: Int, answer: String, reason: String?, cause: EndCause?) {
            (self.item, self.answer, self.cause) = (item, answer, cause)
            self.reason = reason.flatMap { $0.isEmpty ? nil : $0 }
        }
    }

    struct Answers: Encodable {
        /// The answers to the first `shownItems`.
        var answers: [Answer]
        var acceptedCount: Int
        /// Of all items.
        var count: Int
    }

    /// A transfer at the receiver.
    struct Transfer: Encodable {
        /// Absent for a peer that proved no key.
        var from: Peer?
        var transfer: String

        init(_ id: String, from peer: String?) {
            (from, transfer) = (peer.map { Peer(id: $0) }, id)
        }
    }

    /// Bytes moved so far, and in all.
    struct Course: Encodable {
        var bytes: UInt64
        var total: UInt64?
    }

    /// Why a part of a command failed, and its exit code.
    struct ExitReason: Encodable {
        var reason: String
        var cause: EndCause?
        var exit: WaftExit
    }

    /// Why a transfer failed.
    struct End: Encodable {
        var reason: String
        var cause: EndCause?
    }

    /// The answer of a handler.
    struct HandlerReply: Encodable {
        var handlerAnswer: String
        var exitCode: Int?
    }
}

extension EventLine.Item {
    init(_ number: Int, _ item: OfferedItem) {
        self.init(
            item: number, name: item.name.text, kind: item.kind.rawValue, type: item.type.identifier, size: item.size,
            sizeHint: item.sizeHint, entries: item.kind == .tree ? item.entries : nil)
    }

    /// Items as the control socket has them, from the first on.
    static func of(_ items: [OfferSummary.Item]) -> [Self] {
        items.enumerated().map { number, item in
            Self(
                item: number, name: item.name, kind: item.kind, type: item.type, size: item.size,
                sizeHint: item.sizeHint, entries: item.entries, hasPreview: item.hasPreview)
        }
    }

    /// The first items of an offer.
    static func first(of offer: Offer) -> [Self] {
        offer.items.prefix(EventLine.shownItems).enumerated().map(Self.init)
    }
}

extension EventLine.Answers {
    /// - Parameter reason: of the words for the sender and for the receiver.
    init(_ verdict: Verdict, reason: (ItemVerdict) -> String = \.reason) {
        acceptedCount = verdict.items.count { $0.answer == .accepted }
        count = verdict.items.count
        answers = verdict.items.prefix(EventLine.shownItems).enumerated().map { number, item in
            EventLine.Answer(
                item: number, answer: item.answer.rawValue, reason: reason(item), cause: item.cause)
        }
    }
}
