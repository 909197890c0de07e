internal import NIOCore
internal import Sharing

extension AddressKey {
    /// All link-local addresses share one /64, so the key of such an address is the whole address.
    init(_ address: SocketAddress?) {
        // The bytes in Linux's layout: the address is at offset 4 of a `sockaddr_in` and 8 of a `sockaddr_in6`.
        switch address {
        case .v4:
            let bytes = address?.bytes(at: 4, as: UInt32.self) ?? 0
            self.init(v4: UInt32(bigEndian: bytes))
        case .v6:
            let high = UInt64(bigEndian: address?.bytes(at: 8, as: UInt64.self) ?? 0)
            let low = UInt64(bigEndian: address?.bytes(at: 16, as: UInt64.self) ?? 0)
            if high == 0, low >> 32 == 0xFFFF {
                // An IPv4 address in the form of a dual-stack socket (RFC 4291, section 2.5.5.2).
                self.init(v4: UInt32(truncatingIfNeeded: low))
            } else {
                let isLinkLocal = high >> 54 == 0xFE80 >> 6
                self.init(high: high, low: isLinkLocal ? low : 0)
            }
        default:
            self.init(high: 0, low: 0)
        }
    }
}

extension SocketAddress {
    /// A number in the bytes of a socket's address.
    func bytes<Value: FixedWidthInteger>(at offset: Int, as type: Value.Type) -> Value? {
        withSockAddr { address, size in
            guard offset + MemoryLayout<Value>.size <= size else { return nil }
            return UnsafeRawPointer(address).loadUnaligned(fromByteOffset: offset, as: type)
        }
    }
}
