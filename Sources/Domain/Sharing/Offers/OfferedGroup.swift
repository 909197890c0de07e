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
}
