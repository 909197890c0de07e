package import SecureTransport
package import Sharing

/// The way to a peer: a dialect, addresses, and the key that has to answer there.
package struct PeerTarget: Sendable, Hashable {
    package let dialect: Dialect
    /// The best first.
    package var addresses: [DialAddress]
    /// Nil if any key will do, or none is proved.
    package var expected: PeerID?
    /// The announcement of the peer; nil for an address that the user typed.
    package var announcement: Announcement?
    /// The name that the peer gives itself, once it is known.
    package var name: String?

    /// The announcement of a peer, as its dialect reads it.
    package struct Announcement: Sendable, Hashable {
        /// The name of the service instance.
        package var instance: String
        /// Facts by name: the TXT record. Foreign text.
        package var facts: [String: String]

        package init(instance: String, facts: [String: String]) {
            (self.instance, self.facts) = (instance, facts)
        }
    }

    package init(
        _ dialect: Dialect, addresses: [DialAddress], expected: PeerID? = nil, announcement: Announcement? = nil
    ) {
        (self.dialect, self.addresses, self.expected, self.announcement) = (dialect, addresses, expected, announcement)
    }

    /// The same target, if only this key may answer there.
    package func expecting(_ peer: PeerID) -> PeerTarget {
        var target = self
        target.expected = peer
        return target
    }

    /// Whether both are the same peer without a key, which has another id each time it starts: the names are equal, and
    /// the other has each of the addresses.
    ///
    /// One address in common is not enough: a stranger could announce the peer's address beside its own, and take the
    /// peer's place.
    package func isLaterSighting(of other: PeerTarget) -> Bool {
        guard !dialect.provesKeys, dialect == other.dialect, let name, name == other.name, !addresses.isEmpty else {
            return false
        }
        return Set(addresses).isSubset(of: other.addresses)
    }

    /// For people.
    package var addressTexts: [String] { addresses.map(\.description) }
}
