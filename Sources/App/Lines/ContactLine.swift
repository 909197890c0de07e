package import Contacts
package import Sharing
import UniformTypes

/// The contacts may have changed.
package struct ContactsLine: Line {
    package static let event = "contacts"

    package init() {}
}

/// A contact, with the limits of its acceptance.
package struct ContactLine: Line {
    package static let event = "contact"

    package struct Address: Encodable, Sendable {
        package var host: String
        package var port: UInt16
        package var lastGood: LineTime
    }

    package var name: String
    /// The whole id of its key.
    package var id: String
    /// `ask`, `accept` or `decline`.
    package var policy: String
    package var blocked: Bool
    /// Absent for any type.
    package var types: [String]?
    /// Bytes of an offer.
    package var sizeAtMost: UInt64?
    package var itemsAtMost: Int?
    /// Bytes in 24 hours.
    package var sizePerDay: UInt64?
    /// Such as `08:00-18:00`, or `22:00-06:00 on mon, fri`.
    package var hours: String?
    package var until: LineTime?
    package var handler: String?
    package var folder: String?
    /// How its items are sealed.
    package var protection: String?
    /// When it is a stranger again; absent for never.
    package var ends: LineTime?
    /// `comparedCode`, `typedCode`, `keyID`, `firstUse` or `spokenCode`.
    package var verifiedBy: String
    package var verifiedAt: LineTime
    /// The addresses at which it was reached.
    package var reached: [Address]
    /// The short form of the id.
    @Unsaid package var short: String
    /// Whether `until` is over.
    @Unsaid package var hasEnded: Bool
    /// Bytes that came in the last 24 hours; nil if that is unknown.
    @Unsaid package var received: UInt64?

    /// - Parameter received: bytes that came in the last 24 hours; nil if that is unknown.
    package init(_ contact: Contact, at now: WallTime, received: UInt64? = nil) {
        let (limits, destination) = (contact.limits, contact.destination)
        (name, id, short) = (contact.name.text, contact.id.text, contact.id.short)
        (policy, blocked) = (contact.policy.rawValue, contact.isBlocked)
        types = limits.types.isEmpty ? nil : limits.types.map(\.identifier)
        (sizeAtMost, itemsAtMost, sizePerDay) = (limits.largestOffer, limits.maximumItems, limits.sizePerDay)
        (hours, until) = (limits.times?.description, limits.until.map { LineTime($0) })
        hasEnded = limits.until.map { $0 <= now } ?? false
        ends = contact.ends.map { LineTime($0) }
        (handler, folder) = (destination.handler, destination.folder?.text)
        protection = destination.protection?.rawValue
        (verifiedBy, verifiedAt) = (contact.verification.method.rawValue, LineTime(contact.verification.at))
        reached = contact.addresses.map { Address(host: $0.host, port: $0.port, lastGood: LineTime($0.lastGood)) }
        self.received = received
    }
}

/// Contacts to which the user sends together.
package struct GroupLine: Line {
    package static let event = "group"

    package var name: String
    /// One without `contact` is no contact any more.
    package var peers: [PersonFields]
    /// Whether the group was deleted; absent otherwise.
    package var deleted: Bool?

    package init(_ group: ContactGroup, in contacts: ContactSnapshot) {
        name = group.name.text
        peers = group.members.map { PersonFields(id: $0.text, contact: contacts[$0]?.name.text) }
    }
}

/// A blocked peer that is no contact.
package struct BlockedStrangerLine: Line {
    package static let event = "blockedStranger"

    /// The name that the stranger gave itself.
    package var name: String
    /// The whole id of its key.
    package var id: String
    package var at: LineTime
    /// The short form of the id.
    @Unsaid package var short: String

    package init(_ stranger: BlockedStranger) {
        (name, id, short) = (stranger.calledItself, stranger.id.text, stranger.id.short)
        at = LineTime(stranger.at)
    }
}

/// The user has forgotten a contact, or has blocked or unblocked a peer.
package struct RelationLine: Line {
    package static let event = "forgotten"

    package enum Change: String, Codable, Sendable { case forgotten, blocked, unblocked }

    package var event: String { change.rawValue }

    /// The whole id of its key.
    package var id: String
    /// The user's name for a contact.
    package var name: String?
    package var blocked: Bool
    /// The short form of the id.
    @Unsaid package var short: String
    @Unsaid package var change: Change

    /// - Parameter contact: as it was; nil for a stranger.
    package init(_ change: Change, _ id: PeerID, _ contact: Contact?, isBlocked: Bool) {
        (self.change, self.id, name, blocked) = (change, id.text, contact?.name.text, isBlocked)
        short = id.short
    }
}

/// This peer itself.
package struct MeLine: Line {
    package static let event = "me"

    /// The name that it gives itself.
    package var name: String
    /// The whole id of its key, and its short form.
    package var id: String
    package var short: String

    package init(name: String, _ id: PeerID) { (self.name, self.id, short) = (name, id.text, id.short) }
}
