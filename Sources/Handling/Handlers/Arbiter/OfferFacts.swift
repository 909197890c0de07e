import Foundation
package import Sharing
import SystemPackage
import UniformTypes

/// The facts about an offer that the arbiter gets.
package struct OfferFacts: Sendable {
    package var offer: Offer
    package var peer: PeerID
    /// The user's own name for the peer; nil for a stranger, even if the peer's name for itself is a contact's name.
    package var contact: String?
    /// Free bytes on the disk that would store the offer.
    package var freeRoom: UInt64

    package init(offer: Offer, peer: PeerID, contact: String? = nil, freeRoom: UInt64) {
        self.offer = offer
        self.peer = peer
        self.contact = contact
        self.freeRoom = freeRoom
    }

    /// Variables to set, or to remove: those that do not apply must not stay from the receiver's environment.
    var environment: [String: String?] {
        var variables = HookCall.withoutItems
        variables["WAFT_PEER_ID"] = .some(peer.provenText)
        variables["WAFT_VIA"] = .some(offer.dialect.name)
        variables["WAFT_PEER_NAME"] = .some(offer.senderName)
        variables["WAFT_PEER_CONTACT"] = .some(contact)
        variables["WAFT_TRANSFER"] = .some(offer.transfer.text)
        variables["WAFT_OFFER_ITEMS"] = .some(String(offer.items.count))
        variables["WAFT_OFFER_SIZE"] = .some(String(offer.knownSize))
        variables["WAFT_FREE_ROOM"] = .some(String(freeRoom))
        // A NUL would end the variable early.
        return variables.mapValues { $0?.replacing("\0", with: "\u{FFFD}") }
    }

    /// One line of JSON, with its newline.
    func document() throws -> [UInt8] { try InputDocument.line(Document(self)) }

    /// The document in an anonymous file, at its beginning; the caller owns the descriptor.
    func documentFile() throws -> FileDescriptor { try InputDocument.file(document(), name: "waft-offer") }
}

/// Version 1 of the document; fields may be added.
private struct Document: Encodable {
    struct Peer: Encodable {
        /// Absent for a peer that proved no key.
        var id: String?
        /// The peer's name for itself: no ground for a decision.
        var name: String
        /// Absent for a stranger.
        var contact: String?
    }

    struct Item: Encodable {
        var name: String
        var kind: String
        var type: String
        /// Bytes; absent if the sender cannot know.
        var size: UInt64?
        /// Bytes that the sender expects where `size` is not known.
        var sizeHint: UInt64?
        /// Absent if the sender cannot know.
        var entries: UInt64?
    }

    var v = 1
    var call = "offer"
    var transfer: String
    var peer: Peer
    /// The dialect of the offer.
    var via: String
    var items: [Item]
    /// Bytes of all items whose size is known.
    var size: UInt64
    var freeRoom: UInt64
    var annotation: [String: String]
    /// Whether the sender can send the accepted items without the others.
    var takesPart: Bool

    init(_ facts: OfferFacts) {
        let offer = facts.offer
        transfer = offer.transfer.text
        peer = Peer(id: facts.peer.provenText, name: offer.senderName, contact: facts.contact)
        via = offer.dialect.name
        items = offer.items.map { item in
            Item(
                name: item.name.text, kind: item.kind.rawValue, type: item.type.identifier, size: item.size,
                sizeHint: item.sizeHint, entries: item.entries)
        }
        size = offer.knownSize
        freeRoom = facts.freeRoom
        annotation = offer.annotation
        takesPart = offer.takesPart
    }
}
