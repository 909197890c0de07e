package import Sharing
import UniformTypes

/// An offer that waits for consent, as it is shown.
package struct OfferSummary: Codable, Sendable, Equatable {
    package struct Item: Codable, Sendable, Equatable {
        package var name: String
        package var kind: String
        package var type: String
        package var size: UInt64?
        /// See `OfferedItem.sizeHint`.
        package var sizeHint: UInt64?
        package var entries: UInt64?
        /// Whether it has a preview, which `ControlRequest.preview` asks for; nil for no.
        package var hasPreview: Bool?

        package init(_ item: OfferedItem) {
            name = item.name.text
            kind = item.kind.rawValue
            type = item.type.identifier
            size = item.size
            sizeHint = item.sizeHint
            entries = item.kind == .tree ? item.entries : nil
            hasPreview = item.preview == nil ? nil : true
        }
    }

    /// The sender, as the user knows it. Nil from a receiver that is older than the command line.
    package struct Asker: Codable, Sendable, Equatable {
        /// One line: the contact's name, or `stranger`, the name that it gives itself, and its key. Not escaped.
        package var line: String
        /// The user's name for the peer; nil for a stranger.
        package var contact: String?
        /// One line, if a stranger gives itself the name of a contact. Not escaped.
        package var warning: String?
        /// The contact whose name a stranger gives itself: the user's name for it.
        package var claims: String?

        package init(_ introduction: Introduction) {
            (line, contact) = (introduction.line, introduction.contact)
            (warning, claims) = (introduction.warning, introduction.claims)
        }
    }

    package var number: Int
    /// The short form of its key's id, and the whole of it; nil for a peer that proved none.
    package var peerID: String?
    package var peer: String?
    /// The dialect of the offer.
    package var via: String?
    /// The name that the peer gives itself.
    package var peerName: String
    package var asker: Asker?
    package var transfer: String
    package var subject: String?
    package var note: String?
    /// See `OfferOrigin`.
    package var host: String?
    package var certificate: String?
    package var program: String?
    /// The first `shownItems` of them.
    package var items: [Item]
    package var itemCount: Int
    /// Bytes of everything whose size is known.
    package var size: UInt64
    /// See `Offer.hintedSize`.
    package var hintedSize: UInt64?
    package var freeRoom: UInt64
    /// When the time for an answer ends, in milliseconds since 1970. Nil from a receiver that is older than the command line.
    package var expires: Int64?

    /// People cannot answer a question with thousands of lines.
    package static let shownItems = 100
    /// Items in one reply to `ControlRequest.items`.
    package static let itemsPerPage = 1_000

    package init(_ waiting: WaitingOffer, asker: Asker? = nil) {
        let offer = waiting.offer
        number = waiting.number
        peer = waiting.peer.provenText
        peerID = peer == nil ? nil : waiting.peer.short
        via = offer.dialect.name
        peerName = offer.senderName
        self.asker = asker
        transfer = offer.transfer.text
        (subject, note) = (offer.subject, offer.annotation["note"])
        (host, certificate, program) = (offer.origin.host, offer.origin.certificate, offer.origin.program)
        items = offer.items.prefix(Self.shownItems).map(Item.init)
        itemCount = offer.items.count
        size = offer.knownSize
        hintedSize = offer.hintedSize == 0 ? nil : offer.hintedSize
        freeRoom = waiting.freeRoom
        expires = waiting.expires.milliseconds
    }
}
