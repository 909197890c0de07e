/// The address under which a stranger's share is counted, because new keys cost nothing: an IPv4 address, or an IPv6
/// /64, because one machine can use every address in its /64.
///
/// It is used for nothing else: a peer's identity is its key (security rule 1).
package struct AddressKey: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    /// - Parameters:
    ///   - high: the first eight bytes of an IPv6 address.
    ///   - low: the last eight bytes; 0 if only the /64 counts.
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    package init(v4 address: UInt32) {
        self.init(high: 0, low: 0xFFFF_0000_0000 | UInt64(address))
    }
}
