import Contacts
import Sharing
import UniformTypes

/// A contact for programs: one JSON document. Fields that do not apply are left out; new fields can be added.
struct ContactFields: Encodable {
    struct Address: Encodable {
        var host: String
        var port: UInt16
        var lastGood: String
    }

    var name: String
    var id: String
    /// `ask`, `accept` or `decline`.
    var policy: String
    var blocked: Bool
    var types: [String]?
    /// Bytes of an offer.
    var sizeAtMost: UInt64?
    var itemsAtMost: Int?
    /// Bytes in 24 hours.
    var sizePerDay: UInt64?
    /// Such as `08:00-18:00`, or `22:00-06:00 on mon, fri`.
    var hours: String?
    var until: String?
    var handler: String?
    var folder: String?
    /// How its items are sealed.
    var protection: String?
    /// `comparedCode`, `typedCode`, `keyID` or `firstUse`.
    var verifiedBy: String
    var verifiedAt: String
    /// The addresses at which it was reached.
    var reached: [Address]
}

extension ContactFields {
    init(_ contact: Contact) {
        let limits = contact.limits
        name = contact.name.text
        id = contact.id.text
        policy = contact.policy.rawValue
        blocked = contact.isBlocked
        types = limits.types.isEmpty ? nil : limits.types.map(\.identifier)
        sizeAtMost = limits.largestOffer
        itemsAtMost = limits.maximumItems
        sizePerDay = limits.sizePerDay
        hours = limits.times?.description
        until = limits.until.map(ISOTime.text)
        handler = contact.destination.handler
        folder = contact.destination.folder?.text
        protection = contact.destination.protection?.rawValue
        verifiedBy = contact.verification.method.rawValue
        verifiedAt = ISOTime.text(contact.verification.at)
        reached = contact.addresses.map {
            Address(host: $0.host, port: $0.port, lastGood: ISOTime.text($0.lastGood))
        }
    }
}

/// A blocked stranger for programs.
struct BlockedFields: Encodable {
    /// The name that the stranger gave itself.
    var name: String
    var id: String
    var at: String
}

extension BlockedFields {
    init(_ stranger: BlockedStranger) {
        name = stranger.calledItself
        id = stranger.id.text
        at = ISOTime.text(stranger.at)
    }
}

/// A change of a peer's standing, for programs.
struct StandingFields: Encodable {
    var id: String
    /// Of a contact.
    var name: String?
    var blocked: Bool
}

extension StandingFields {
    init(_ id: PeerID, _ contact: Contact?, isBlocked: Bool) {
        self.id = id.text
        name = contact?.name.text
        blocked = isBlocked
    }
}
