/// The address that a stranger's share is counted under, since keys cost nothing: an IPv4 address, or the /64 of an IPv6
/// one, since one machine can take any address in its /64.
///
/// It decides nothing else: a peer is its key (security rule 1).
package struct AddressKey: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    /// - Parameters:
    ///   - high: the first eight bytes of an IPv6 address.
    ///   - low: the last eight; 0 where they do not count.
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    package init(v4 address: UInt32) {
        self.init(high: 0, low: 0xFFFF_0000_0000 | UInt64(address))
    }
}
