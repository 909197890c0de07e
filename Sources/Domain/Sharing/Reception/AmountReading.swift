/// The journal's sums of received bytes, needed to bound the amount of a day. Calls may block on the disk.
package protocol AmountReading: Sendable {
    /// Bytes from a sender that were stored within a day, also if they have left the Inbox since.
    func received(from sender: AmountSender, on day: Day) throws(JournalError) -> UInt64
}

/// The sender under which the bytes of a day are counted.
package enum AmountSender: Hashable, Sendable {
    /// The peer with this key.
    case peer(PeerID)
    /// All peers of a protocol that prove no key.
    case dialect(Dialect)

    package init(_ peer: PeerID, by dialect: Dialect) {
        self = dialect.proof != .never && peer.unprovenBy == nil ? .peer(peer) : .dialect(dialect)
    }

    /// The protocol of the sender; nil for a peer with a key.
    package var dialect: Dialect? {
        if case .dialect(let dialect) = self { dialect } else { nil }
    }

    func includes(_ peer: PeerID, by dialect: Dialect) -> Bool { self == AmountSender(peer, by: dialect) }
}
