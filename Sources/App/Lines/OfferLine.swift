import ContentCheck
package import Foundation
package import Sharing
import UniformTypes

/// An item of an offer.
package struct ItemFields: Codable, Equatable, Sendable {
    /// Place of the item in its offer, from 0.
    package var item: Int
    package var name: String
    package var kind: String
    package var type: String
    /// Bytes.
    package var size: UInt64?
    /// See `OfferedItem.sizeHint`.
    package var sizeHint: UInt64?
    /// Of a folder: files, folders and links, itself included.
    package var entries: UInt64?
    /// Whether `waft offers preview` can show it; nil for no.
    package var hasPreview: Bool?

    /// - Parameter isWaiting: whether its preview can be asked for.
    package init(_ number: Int, _ offered: OfferedItem, isWaiting: Bool = false) {
        item = number
        (name, kind, type) = (offered.name.text, offered.kind.rawValue, offered.type.identifier)
        (size, sizeHint) = (offered.size, offered.sizeHint)
        entries = offered.kind == .tree ? offered.entries : nil
        hasPreview = isWaiting && offered.preview != nil ? true : nil
    }

    /// The first `shownItems`.
    package static func first(of offer: Offer, areWaiting: Bool = false) -> [Self] {
        offer.items.prefix(shownItems).enumerated().map { Self($0, $1, isWaiting: areWaiting) }
    }
}

/// An offer at the receiver.
package struct OfferLine: Line, Codable, Equatable {
    package static let event = "offer"

    /// Number of a waiting offer, for the answer.
    package var offer: Int?
    package var from: PersonFields
    /// The dialect of the transfer: `waft` and others.
    package var via: String?
    package var transfer: String
    /// The first `shownItems` of the items; `count` says how many there are.
    package var items: [ItemFields]
    package var count: Int
    package var subject: String?
    package var note: String?
    /// Bytes of everything whose size is known.
    package var size: UInt64?
    /// Bytes free on the disk of the destination.
    package var free: UInt64?
    /// When the time for an answer ends.
    package var expires: LineTime?
    /// If a stranger gives itself the name of a contact: one line.
    package var warning: String?
    /// Number of other peers that get the same offer; nil for none.
    package var otherCount: Int?
    /// Whether this machine passes the contents on to one of them, once they are accepted; nil for no.
    package var relays: Bool?
    /// See `OfferOrigin`.
    @Unsaid package var host: String?
    @Unsaid package var certificate: String?
    @Unsaid package var program: String?
    /// See `Offer.hintedSize`; 0 for none.
    @Unsaid package var hintedSize: UInt64

    /// An offer that has just come.
    package init(_ offer: Offer, from peer: PersonFields) {
        self.init(offer, from: peer, isWaiting: false)
    }

    /// An offer that waits for an answer.
    ///
    /// - Parameter rule: the senders for which this machine passes contents on.
    package init(_ waiting: WaitingOffer, _ sender: Introduction, relay rule: RelayRule = .never) {
        let offer = waiting.offer
        self.init(
            offer, from: PersonFields(waiting.peer, callingItself: offer.senderName, sender), isWaiting: true)
        (self.offer, free, expires) = (waiting.number, waiting.freeRoom, LineTime(waiting.expires))
        warning = sender.warning
        relays = offer.mayBeRelayed(by: rule, contact: sender.isContact) ? true : nil
    }

    private init(_ offer: Offer, from peer: PersonFields, isWaiting: Bool) {
        (from, via, transfer) = (peer, offer.dialect.name, offer.transfer.text)
        (items, count) = (ItemFields.first(of: offer, areWaiting: isWaiting), offer.items.count)
        (subject, note, size) = (offer.subject, offer.annotation["note"], offer.knownSize)
        (host, certificate, program) = (offer.origin.host, offer.origin.certificate, offer.origin.program)
        hintedSize = offer.hintedSize
        otherCount = offer.group.map { $0.members - 1 }
    }
}

/// The answer to one item, and why.
package struct AnswerFields: Codable, Equatable, Sendable {
    package var item: Int
    /// `ItemVerdict.Answer`.
    package var answer: String
    package var reason: String?
    /// Absent for an accepted item.
    package var cause: EndCause?

    /// The first `shownItems` of the answers.
    /// - Parameter reason: of the words for the sender and for the receiver.
    package static func first(of verdicts: [ItemVerdict], reason: (ItemVerdict) -> String) -> [Self] {
        verdicts.prefix(shownItems).enumerated().map { number, verdict in
            Self(
                item: number, answer: verdict.answer.rawValue,
                reason: verdict.reason.isEmpty ? nil : reason(verdict), cause: verdict.cause)
        }
    }
}

/// The answer to an offer, at the receiver.
package struct AnsweredLine: Line, Codable, Equatable {
    package static let event = "answered"

    /// The number of an offer that has waited, for watchers.
    package var offer: Int?
    package var from: PersonFields
    package var via: String?
    package var transfer: String
    /// Those of an offer that has not waited, for watchers: they have heard of no offer.
    package var items: [ItemFields]?
    /// The answers to the first `shownItems`.
    package var answers: [AnswerFields]
    package var acceptedCount: Int
    /// Of all items.
    package var count: Int
    /// Bytes of everything whose size is known.
    @Unsaid package var size: UInt64

    /// - Parameters:
    ///   - number: of an offer that has waited, for watchers.
    ///   - listsItems: for watchers, about an offer that has not waited.
    package init(
        _ offer: Offer, from peer: PersonFields, _ verdicts: [ItemVerdict], number: Int? = nil, listsItems: Bool = false
    ) {
        self.offer = number
        (from, via, transfer) = (peer, offer.dialect.name, offer.transfer.text)
        items = listsItems ? ItemFields.first(of: offer, areWaiting: true) : nil
        answers = AnswerFields.first(of: verdicts, reason: \.reasonHere)
        (acceptedCount, count) = (verdicts.count { $0.answer == .accepted }, offer.items.count)
        size = offer.knownSize
    }

    /// Whether it was not answered in time, or withdrawn.
    package var isExpired: Bool { answers.contains { $0.answer == ItemVerdict.Answer.expired.rawValue } }
}

/// The user has accepted an offer.
package struct AcceptedLine: Line, Codable, Equatable {
    package static let event = "accepted"

    /// An offered item that seems to be in the Inbox already, in another folder. It stays there.
    package struct Present: Codable, Equatable, Sendable {
        /// As it is offered.
        package var name: String
        /// The number of the arrival, and its name in the Inbox.
        package var arrival: Int64
        package var stored: String

        package init(name: String, arrival: Int64, stored: String) {
            (self.name, self.arrival, self.stored) = (name, arrival, stored)
        }
    }

    package var offer: Int
    /// Absent if all items were accepted.
    package var acceptedCount: Int?
    /// The folder below the Inbox for the items.
    package var folder: String?
    /// At most `maximumPresent`.
    package var present: [Present]?
    /// Places in the offer, from 0; nil for all.
    @Unsaid package var items: [Int]?

    package static let maximumPresent = 100

    package init(offer: Int, items: [Int]? = nil, folder: String? = nil, present: [Present] = []) {
        (self.offer, self.items, self.folder) = (offer, items, folder)
        acceptedCount = items.map { Set($0).count }
        self.present = present.isEmpty ? nil : present
    }
}

/// The user has declined an offer.
package struct DeclinedLine: Line {
    package static let event = "declined"

    package let offer: Int
    /// Whether the sender is blocked now.
    package let blocked: Bool

    package init(offer: Int, blocked: Bool) { (self.offer, self.blocked) = (offer, blocked) }
}

/// The preview of an item whose offer waits. The receiver has checked it.
package struct OfferPreviewLine: Line, Codable, Equatable {
    package static let event = "offerPreview"

    package var offer: Int
    /// Place of the item in its offer, from 0.
    package var item: Int
    package var name: String
    /// `image/png` or `image/jpeg`.
    package var mediaType: String
    package var pixelWidth: UInt32
    package var pixelHeight: UInt32
    /// Bytes.
    package var size: UInt64
    /// The file that was written.
    package var path: String?
    /// The picture, at most `Limits.previewBytes`.
    @Unsaid package var data: Data

    /// - Returns: nil if the offer has no such item, or if that has no preview.
    package init?(_ number: Int, _ offer: Offer, item: Int) {
        guard offer.items.indices.contains(item), let preview = offer.items[item].preview else { return nil }
        (self.offer, self.item, name) = (number, item, offer.items[item].name.text)
        (mediaType, size) = (preview.type, UInt64(preview.bytes.count))
        (pixelWidth, pixelHeight) = (preview.pixels.width, preview.pixels.height)
        data = Data(preview.bytes)
    }
}
