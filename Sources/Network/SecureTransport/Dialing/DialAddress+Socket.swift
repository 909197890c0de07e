package import NIOCore

extension DialAddress {
    /// The host at the other end of a connection, without a port.
    ///
    /// - Returns: nil for an address that is not IP.
    package init?(of address: SocketAddress) {
        guard let host = address.ipAddress else { return nil }
        // An IPv4 address in the form of a dual-stack socket (RFC 4291, section 2.5.5.2).
        let mapped = "::ffff:"
        if host.hasPrefix(mapped), host.contains(".") {
            self.init(host: String(host.dropFirst(mapped.count)), port: 0)
        } else {
            // Offset of the scope in Linux's `sockaddr_in6`.
            let scope = host.contains(":") ? address.bytes(at: 24, as: UInt32.self) : nil
            self.init(host: host, port: 0, scopeID: scope)
        }
    }
}

extension SocketAddress {
    /// The bytes of an IP address, 4 or 16 in network order, and the interface of a link-local one, 0 for none; nil for an
    /// address that is not IP.
    package var hostBytes: (bytes: [UInt8], scope: UInt32)? {
        // Linux's layout: see `AddressKey.init`.
        switch self {
        case .v4:
            return bytes(at: 4, as: UInt32.self).map { address in (withUnsafeBytes(of: address) { Array($0) }, 0) }
        case .v6:
            guard let address = bytes(at: 8, as: UInt128.self), let scope = bytes(at: 24, as: UInt32.self) else {
                return nil
            }
            let host = withUnsafeBytes(of: address) { Array($0) }
            // An IPv4 address in the form of a dual-stack socket (RFC 4291, section 2.5.5.2).
            let isMapped = UInt128(bigEndian: address) >> 32 == 0xFFFF
            return isMapped ? (Array(host.suffix(4)), 0) : (host, scope)
        case .unixDomainSocket:
            return nil
        }
    }
}
