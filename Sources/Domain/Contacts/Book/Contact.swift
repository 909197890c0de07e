package import Sharing
package import UniformTypes

/// What becomes of something that is offered.
package enum Outcome: String, Sendable, Codable, CaseIterable {
    /// It is taken without a question.
    case accept
    /// Somebody is asked.
    case ask
    /// It is refused without a question.
    case decline
}

/// How it was made sure that a key is a contact's.
package struct Verification: Hashable, Sendable {
    package enum Method: String, Sendable, Codable, CaseIterable {
        /// Both sides compared a code.
        case comparedCode
        /// A code that one side showed was typed on the other.
        case typedCode
        /// The user named the key itself.
        case keyID
    }

    package var method: Method
    package var at: WallTime

    package init(_ method: Method, at: WallTime) {
        self.method = method
        self.at = at
    }
}

extension Destination {
    /// - Throws: `ContactError` `unfit` for what can be no handler's identifier or name.
    package init(handler: String? = nil, folder: SafeRelativePath? = nil) throws(ContactError) {
        let name = handler.flatMap { try? SafeName($0) }
        if let handler, name == nil { throw .unfit("\(handler.quoted) is not a handler's identifier or name") }
        self.init(handler: name, folder: folder)
    }
}

/// What a contact's acceptance covers. Beyond it the user is asked.
package struct AcceptanceLimits: Hashable, Sendable {
    /// An item must conform to one of them; empty: any type. At most `ContactBounds.types`.
    package var types: [UniformType]
    /// Bytes of all items of an offer together. An item of unknown size is larger than any.
    package var largestOffer: UInt64?
    /// Items in an offer.
    package var mostItems: Int?
    /// Bytes received from the contact in 24 hours, however accepted. An item of unknown size exceeds any limit.
    package var sizePerDay: UInt64?
    package var times: TimeWindow?
    /// From then on nothing is covered.
    package var until: WallTime?

    package static let none = AcceptanceLimits()

    package init(
        types: [UniformType] = [],
        largestOffer: UInt64? = nil,
        mostItems: Int? = nil,
        sizePerDay: UInt64? = nil,
        times: TimeWindow? = nil,
        until: WallTime? = nil
    ) {
        self.types = types
        self.largestOffer = largestOffer
        self.mostItems = mostItems
        self.sizePerDay = sizePerDay
        self.times = times
        self.until = until
    }
}

/// Where a contact was reached.
package struct KnownAddress: Hashable, Sendable {
    /// An address or a host's name as it was dialled, with the scope of a link-local one: `fe80::1%eth0`.
    package let host: String
    package let port: UInt16
    /// When a connection to it last led to the contact's key.
    package var lastGood: WallTime

    /// - Throws: `ContactError` `unfit` for a host of no or too many bytes or with anything but letters, digits and
    ///   `.:-_%`, and for port 0.
    package init(host: String, port: UInt16, lastGood: WallTime) throws(ContactError) {
        let fits = (1...ContactBounds.hostBytes).contains(host.utf8.prefix(ContactBounds.hostBytes + 1).count)
        guard fits, port > 0, host.utf8.allSatisfy(Self.isAllowed) else {
            throw .unfit("\(host.quoted) with port \(port) is not an address")
        }
        self.host = host
        self.port = port
        self.lastGood = lastGood
    }

    /// Whether both lead to the same place.
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
    /// Who it is; all else may change.
    package let id: PeerID
    package internal(set) var name: ContactName
    package internal(set) var verification: Verification
    /// What becomes of what it offers where no rule says so; `decline` holds against any rule.
    package var policy: Outcome
    /// What acceptance covers, its own and that of rules.
    package var limits: AcceptanceLimits
    package var destination: Destination
    /// Where it was reached, newest first; at most `ContactBounds.addresses`.
    package internal(set) var addresses: [KnownAddress]
    package internal(set) var isBlocked: Bool

    package init(
        id: PeerID,
        name: ContactName,
        verification: Verification,
        policy: Outcome = .ask,
        limits: AcceptanceLimits = .none,
        destination: Destination = .usual,
        addresses: [KnownAddress] = [],
        isBlocked: Bool = false
    ) {
        self.id = id
        self.name = name
        self.verification = verification
        self.policy = policy
        self.limits = limits
        self.destination = destination
        self.addresses = addresses
        self.isBlocked = isBlocked
    }
}

/// A stranger of whom nothing is wanted.
package struct BlockedStranger: Hashable, Sendable {
    package let id: PeerID
    /// What it called itself, made printable: by this the user knows it again.
    package let calledItself: String
    package let at: WallTime
}
