/// An address of IPv4 or IPv6 as a value.
package enum NetworkAddress: Hashable, Sendable {
    case v4(UInt32)
    /// The first and the last eight bytes. An address of IPv4 in IPv6 (`::ffff:192.0.2.1`) is that of IPv4: see `plain`.
    case v6(UInt64, UInt64)

    /// As text that a system call reads, without a scope.
    package var text: String {
        switch self {
        case .v4(let bits):
            stride(from: 24, through: 0, by: -8).map { String(bits >> UInt32($0) & 0xFF) }.joined(separator: ".")
        case .v6(let high, let low):
            [high, low].flatMap { half in
                stride(from: 48, through: 0, by: -16).map { String(half >> UInt64($0) & 0xFFFF, radix: 16) }
            }.joined(separator: ":")
        }
    }

    /// Whether it is one of fe80::/10, which needs a scope.
    package var isLinkLocal: Bool {
        if case .v6(let high, _) = self { high >> 54 == 0xFE80 >> 6 } else { false }
    }

    /// - Parameter bytes: 4 or 16, in network order.
    package init?(bytes: some Collection<UInt8>) {
        func number(_ bytes: some Collection<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        switch bytes.count {
        case 4: self = .v4(UInt32(number(bytes)))
        case 16: self = .v6(number(bytes.prefix(8)), number(bytes.dropFirst(8)))
        default: return nil
        }
    }

    /// The address of IPv4 that an address of IPv6 contains (mapped, compatible or NAT64), otherwise the address itself.
    var plain: NetworkAddress {
        guard case .v6(let high, let low) = self else { return self }
        let isMapped = high == 0 && low >> 32 == 0xFFFF
        let isCompatible = high == 0 && low >> 32 == 0 && low > 1
        let isTranslated = high == 0x0064_FF9B_0000_0000 && low >> 32 == 0
        return isMapped || isCompatible || isTranslated ? .v4(UInt32(truncatingIfNeeded: low)) : self
    }

    package var isLoopback: Bool {
        switch plain {
        case .v4(let bits): bits >> 24 == 127
        case .v6(let high, let low): high == 0 && low == 1
        }
    }

    /// Unspecified, for many, or reserved: no address of one host.
    var isNoHost: Bool {
        switch plain {
        // 0.0.0.0/8, and from 224.0.0.0 on: multicast, reserved, broadcast.
        case .v4(let bits): bits >> 24 == 0 || bits >> 28 >= 0xE
        case .v6(let high, let low): high == 0 && low == 0 || high >> 56 == 0xFF
        }
    }
}

/// The subnet of an address of an interface.
package struct Subnet: Hashable, Sendable {
    package var address: NetworkAddress
    /// Bits: 0...32 or 0...128.
    package var prefixLength: Int

    package init(_ address: NetworkAddress, prefixLength: Int) {
        self.address = address
        self.prefixLength = prefixLength
    }

    /// Whether the subnet has an address as that of one host: not its first one or its broadcast address.
    package func contains(_ other: NetworkAddress) -> Bool {
        switch (address, other) {
        case (.v4(let own), .v4(let other)):
            guard (0...32).contains(prefixLength) else { return false }
            let host = prefixLength == 0 ? UInt32.max : prefixLength == 32 ? 0 : UInt32.max >> UInt32(prefixLength)
            guard own & ~host == other & ~host else { return false }
            // A /31 or /32 has no address for all (RFC 3021).
            return prefixLength >= 31 || (other & host != 0 && other & host != host)
        case (.v6(let high, let low), .v6(let otherHigh, let otherLow)):
            guard (0...128).contains(prefixLength) else { return false }
            return Self.agree(high, otherHigh, bits: min(prefixLength, 64))
                && Self.agree(low, otherLow, bits: max(0, prefixLength - 64))
        default:
            return false
        }
    }

    private static func agree(_ left: UInt64, _ right: UInt64, bits: Int) -> Bool {
        bits == 0 || (left ^ right) >> UInt64(64 - bits) == 0
    }
}
