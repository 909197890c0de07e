package import Sharing
package import UniformTypes

/// The outcome of an offer or of an item.
package enum PolicyAction: String, Sendable, Codable, CaseIterable {
    /// The item is taken without a question.
    case accept
    /// The user is asked.
    case ask
    /// The item is refused without a question.
    case decline
}

/// How the user verified that a key belongs to a contact.
package struct Verification: Hashable, Sendable {
    package enum Method: String, Sendable, Codable, CaseIterable {
        /// Both sides compared a code.
        case comparedCode
        /// A code that one side showed was typed on the other side.
        case typedCode
        /// The user named the key itself.
        case keyID
        /// The user took the key of an offer, without a comparison: trust on first use.
        case firstUse
        /// Both sides knew the same code for a transfer, and both users wanted to remember the other.
        case spokenCode
    }

    package var method: Method
    package var at: WallTime

    package init(_ method: Method, at: WallTime) {
        self.method = method
        self.at = at
    }
}

extension Destination {
    /// - Throws: `ContactError` `unfit` if `handler` cannot be a handler's identifier or name.
    package init(
        handler: String? = nil, folder: SafeRelativePath? = nil, protection: ProtectionClass? = nil
    ) throws(ContactError) {
        let name = handler.flatMap { try? SafeName($0) }
        if let handler, name == nil { throw .unfit("\(handler.quoted) is not a handler's identifier or name") }
        self.init(handler: name, folder: folder, protection: protection)
    }
}

/// The limits within which a contact's items are accepted. Beyond them the user is asked.
package struct AcceptanceLimits: Hashable, Sendable {
    /// An item must conform to one of these types; empty: any type. At most `ContactBounds.types`.
    package var types: [UniformType]
    /// Maximum bytes of all items of an offer together. An item of unknown size exceeds any limit.
    package var largestOffer: UInt64?
    /// Maximum number of items in an offer.
    package var maximumItems: Int?
    /// Maximum bytes received from the contact in 24 hours, by any acceptance. Unknown sizes exceed any limit.
    package var sizePerDay: UInt64?
    package var times: TimeWindow?
    /// From this time on nothing is accepted by these limits.
    package var until: WallTime?

    package static let none = AcceptanceLimits()

    package init(
        types: [UniformType] = [],
        largestOffer: UInt64? = nil,
        maximumItems: Int? = nil,
        sizePerDay: UInt64? = nil,
        times: TimeWindow? = nil,
        until: WallTime? = nil
    ) {
        self.types = types
        self.largestOffer = largestOffer
        self.maximumItems = maximumItems
        self.sizePerDay = sizePerDay
        self.times = times
        self.until = until
    }
}

/// An address at which a contact was reached.
package struct KnownAddress: Hashable, Sendable {
    /// An IP address or host name as it was dialled. A link-local address has its scope: `fe80::1%eth0`.
    package let host: String
    package let port: UInt16
    /// The last time when a connection to this address led to the contact's key.
    package var lastGood: WallTime

    /// - Throws: `ContactError` `unfit` if the host has no or too many bytes, or a character other than letters, digits
    ///   and `.:-_%`, and for port 0.
    package init(host: String, port: UInt16, lastGood: WallTime) throws(ContactError) {
        let fits = (1...ContactBounds.hostBytes).contains(host.utf8.prefix(ContactBounds.hostBytes + 1).count)
        guard fits, port > 0, host.utf8.allSatisfy(Self.isAllowed) else {
            throw .unfit("\(host.quoted) with port \(port) is not an address")
        }
        self.host = host
        self.port = port
        self.lastGood = lastGood
    }

    /// Whether both have the same host and port.
    package func isSamePlace(as other: KnownAddress) -> Bool { host == other.host && port == other.port }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: ".:-_%".utf8.contains(byte)
        }
    }
}

/// A peer whose key the user has verified and named.
package struct Contact: Hashable, Sendable {
    /// The contact's key. All other properties may change.
    package let id: PeerID
    package internal(set) var name: ContactName
    package internal(set) var verification: Verification
    /// The outcome for the contact's items if no rule matches. `decline` overrides every rule.
    package var policy: PolicyAction
    /// The limits of acceptance, by this policy and by rules.
    package var limits: AcceptanceLimits
    package var destination: Destination
    /// The addresses at which the contact was reached, newest first; at most `ContactBounds.addresses`.
    package internal(set) var addresses: [KnownAddress]
    package internal(set) var isBlocked: Bool
    /// When the peer is a stranger again; nil for never. A blocked contact stays one.
    package var ends: WallTime?

    package init(
        id: PeerID,
        name: ContactName,
        verification: Verification,
        policy: PolicyAction = .ask,
        limits: AcceptanceLimits = .none,
        destination: Destination = .usual,
        addresses: [KnownAddress] = [],
        isBlocked: Bool = false,
        ends: WallTime? = nil
    ) {
        self.id = id
        self.name = name
        self.verification = verification
        self.policy = policy
        self.limits = limits
        self.destination = destination
        self.addresses = addresses
        self.isBlocked = isBlocked
        self.ends = ends
    }

    func hasEnded(at now: WallTime) -> Bool { !isBlocked && ends.map { $0 <= now } ?? false }
}

/// A stranger whose offers are all refused.
package struct BlockedStranger: Hashable, Sendable {
    package let id: PeerID
    /// The name that the stranger used for itself, made printable: the user recognises it by this name.
    package let calledItself: String
    package let at: WallTime
}
