internal import Glibc

/// A network interface that reaches other machines by multicast, with this machine's addresses on it.
package struct LocalLink: Sendable, Hashable {
    package var interface: NetworkInterface
    /// In the order of trying; empty while the interface has no address.
    package var addresses: [ServiceAddress]

    package init(interface: NetworkInterface, addresses: [ServiceAddress]) {
        (self.interface, self.addresses) = (interface, addresses)
    }
}

extension LocalLink {
    /// The present links of this machine, in the order of their names. Loopback is none.
    ///
    /// - Parameter port: for the addresses; 1 to 65535.
    package static func current(port: UInt16) -> [LocalLink] {
        let network = NetworkSnapshot.current()
        return network.usableInterfaces.filter { !$0.isLoopback }.sorted { $0.name < $1.name }.map { interface in
            let own = network.addresses.filter { $0.interface == interface.index }
            let addresses = own.compactMap { address in
                text(address.bytes).flatMap {
                    ServiceAddress(bytes: address.bytes, host: $0, interface: interface, port: port)
                }
            }
            return LocalLink(interface: interface, addresses: addresses.sorted())
        }
    }

    /// The interfaces that would be links if they had a carrier, in the order of their names.
    package static func unplugged() -> [NetworkInterface] {
        let network = NetworkSnapshot.current()
        return network.unplugged.compactMap { network.interfaces[$0] }.sorted { $0.name < $1.name }
    }

    /// An address in presentation form.
    ///
    /// - Parameter bytes: 4 or 16 in network order.
    static func text(_ bytes: [UInt8]) -> String? {
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { buffer in
            inet_ntop(family, bytes, buffer.baseAddress, socklen_t(buffer.count)).map { String(cString: $0) }
        }
    }
}
