/// The number of a group: 128 random bits, made by the sender. It has the form of a transfer's id.
package struct GroupID: Hashable, Sendable, CustomStringConvertible {
    private let number: TransferID

    /// 32 lower-case hexadecimal digits.
    package var text: String { number.text }

    package var description: String { text }

    /// A new one from the system's random numbers.
    package init() { number = TransferID() }

    /// - Returns: nil unless `text` is 32 lower-case hexadecimal digits.
    package init?(_ text: String) {
        guard let number = TransferID(text) else { return nil }
        self.number = number
    }
}

/// The group in which an offer is made: the same items go to several peers, and each may pass them on.
package struct OfferedGroup: Hashable, Sendable {
    package var id: GroupID
    /// Peers that get the offer, this one among them: 3...64.
    package var members: Int

    package init(id: GroupID, members: Int) {
        (self.id, self.members) = (id, members)
    }

    /// The words of a question about the others.
    ///
    /// - Parameter relays: whether this machine passes the contents on to one of them.
    package static func words(others: Int, relays: Bool) -> String {
        "and \(others) other\(others == 1 ? "" : "s")" + (relays ? "; your machine passes it on to one other" : "")
    }
}

/// The senders for which this machine passes contents on to other members of a group.
package enum RelayRule: String, Sendable, CaseIterable {
    case never
    case contacts
    /// Every sender whose offer was accepted.
    case accepted

    package func includes(contact isContact: Bool) -> Bool {
        switch self {
        case .never: false
        case .contacts: isContact
        case .accepted: true
        }
    }
}

extension Offer {
    /// Whether this machine may pass the contents on once they are accepted. One that received the offer by a wireless
    /// interface does not: it would cost the air twice.
    package func mayBeRelayed(by rule: RelayRule, contact isContact: Bool) -> Bool {
        group != nil && !origin.isWireless && rule.includes(contact: isContact)
    }
}
