internal import Glibc

/// The groups and the port on which machines announce themselves by datagrams of their own, without multicast DNS.
package struct MulticastAddresses: Sendable, Hashable {
    /// An IPv4 group in presentation form; nil for none.
    package var ipv4: String?
    /// An IPv6 group of link-local scope (`ff_2::`) in presentation form; nil for none.
    package var ipv6: String?
    /// A UDP port, 1 to 65535, which this machine's other programs may use too.
    package var port: UInt16

    package init(ipv4: String?, ipv6: String?, port: UInt16) {
        (self.ipv4, self.ipv6, self.port) = (ipv4, ipv6, port)
    }

    /// The group of a family in network order; nil if there is none, or the text is no address.
    func group(_ family: ServiceAddress.Family) -> [UInt8]? {
        switch family {
        case .ipv4: ipv4.flatMap { OwnNetworks.bytes(of: $0) }.flatMap { $0.count == 4 ? $0 : nil }
        case .ipv6: ipv6.flatMap { OwnNetworks.bytes(of: $0) }.flatMap { $0.count == 16 ? $0 : nil }
        }
    }
}
