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
