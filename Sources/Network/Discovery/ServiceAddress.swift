/// One address of a service, complete enough to connect to.
package struct ServiceAddress: Sendable, Hashable {
    package enum Family: Sendable, Hashable {
        case ipv4
        case ipv6
    }

    package var family: Family
    /// Presentation form (RFC 5952 for IPv6), without scope.
    package var host: String
    /// The interface index (`sin6_scope_id`) that a link-local IPv6 address needs; 0 for all others.
    package var scope: UInt32
    /// The interface on which the address was announced.
    package var interface: String
    /// In host byte order.
    package var port: UInt16
    /// How far the address reaches; it decides the order of trying.
    package var reach: Reach

    /// How far an address reaches, in the order of trying: this machine's loopback first, since nothing is nearer, then
    /// after RFC 6724 the global and unique local addresses of IPv6, IPv4, and link-local addresses last.
    package enum Reach: Int, Sendable, Hashable, Comparable {
        case loopback
        case global
        case uniqueLocal
        case ipv4
        case linkLocal
        case ipv4LinkLocal

        package static func < (left: Reach, right: Reach) -> Bool { left.rawValue < right.rawValue }
    }

    /// An address as received, or nil if it cannot be a peer's: unspecified, multicast, IPv4 in IPv6, port 0, or
    /// loopback that was not announced on the loopback interface, since that would name a service of this machine.
    ///
    /// - Parameters:
    ///   - bytes: 4 or 16 bytes in network order.
    ///   - host: the same address in presentation form.
    package init?(bytes: [UInt8], host: String, interface: NetworkInterface, port: UInt16) {
        guard port != 0, let reach = Reach(bytes: bytes) else { return nil }
        if reach == .loopback, !interface.isLoopback { return nil }
        self.family = bytes.count == 4 ? .ipv4 : .ipv6
        self.host = host
        self.scope = reach == .linkLocal ? interface.index : 0
        self.interface = interface.name
        self.port = port
        self.reach = reach
    }
}

extension ServiceAddress.Reach {
    /// The reach of an address, or nil if it does not belong to a single host.
    init?(bytes: [UInt8]) {
        if bytes.count == 4 {
            switch (bytes[0], bytes[1]) {
            case (0, _), (224..., _): return nil
            case (127, _): self = .loopback
            case (169, 254): self = .ipv4LinkLocal
            default: self = .ipv4
            }
        } else if bytes.count == 16 {
            let leading = bytes.prefix(10).allSatisfy { $0 == 0 }
            switch (bytes[0], bytes[1]) {
            case (0xff, _): return nil
            case (0xfe, 0x80...0xbf): self = .linkLocal
            case (0xfc, _), (0xfd, _): self = .uniqueLocal
            // ::, ::1, and IPv4-mapped and -compatible addresses begin with ten zero bytes.
            case (0, _) where leading:
                guard bytes[10..<15].allSatisfy({ $0 == 0 }), bytes[15] == 1 else { return nil }
                self = .loopback
            default: self = .global
            }
        } else {
            return nil
        }
    }
}

extension ServiceAddress: Comparable {
    /// The better one to try is less. Ties are broken so that the order never depends on the order of the answers.
    package static func < (left: ServiceAddress, right: ServiceAddress) -> Bool {
        if left.reach != right.reach { return left.reach < right.reach }
        if left.interface != right.interface { return left.interface < right.interface }
        if left.host != right.host { return left.host < right.host }
        return left.port < right.port
    }
}
