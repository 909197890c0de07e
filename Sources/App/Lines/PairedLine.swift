package import Sharing

/// This side waits for a peer to pair with.
package struct PairingOpenLine: Line {
    package static let event = "open"

    /// How long a peer is waited for.
    package var seconds: Double
    /// The code for the other machine, which is good for one try; absent where people compare.
    package var code: String?
    /// The beginning of the key that machines see which ask for the nameplate of a spoken code.
    package var shownKey: String?
    /// How many more machines the code is for; absent for a code for one.
    package var people: Int?
    /// The short form of this machine's id, for a code for several.
    @Unsaid package var ownKey: String?

    package init(
        seconds: Double, code: String?, shownKey: String? = nil, people: Int? = nil, ownKey: String? = nil
    ) {
        (self.seconds, self.code, self.shownKey) = (seconds, code, shownKey)
        (self.people, self.ownKey) = (people, ownKey)
    }
}

/// Another machine tried a spoken code and did not know it, or came to nothing: that code is spent.
package struct CodeSpentLine: Line {
    package static let event = "spent"

    /// The address of the machine; absent if unknown.
    package var address: String?
    package var reason: String

    package init(at address: String?, reason: String) { (self.address, self.reason) = (address, reason) }
}

/// A peer wants to pair.
package struct PairingPeerLine: Line, Codable, Equatable {
    package static let event = "peer"

    package var peer: PersonFields
    /// If the peer gives itself the name of a contact that has another key.
    package var warning: String?
    /// The short form of the id.
    @Unsaid package var key: String

    /// - Parameter name: the name that the peer gives itself, or that of its contact.
    package init(_ id: PeerID, named name: String, isContact: Bool, warning: String?) {
        peer = PersonFields(id: id.text, name: isContact ? nil : name, contact: isContact ? name : nil)
        (self.warning, key) = (warning, id.short)
    }
}

/// Both machines show the same, if no third party is in between.
package struct CompareLine: Line, Codable, Equatable {
    package static let event = "compare"

    package var digits: String
    package var words: [String]

    package init(digits: String, words: [String]) { (self.digits, self.words) = (digits, words) }
}

/// A peer is a contact now.
package struct PairedLine: Line, Codable, Equatable {
    package static let event = "paired"

    package var peer: PersonFields
    /// When it is a stranger again; absent for never.
    package var ends: LineTime?
    /// The short form of the id.
    @Unsaid package var key: String

    package init(_ id: PeerID, contact: String, until ends: WallTime? = nil) {
        (peer, key) = (PersonFields(id: id.text, contact: contact), id.short)
        self.ends = ends.map { LineTime($0) }
    }
}
