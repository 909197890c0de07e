/// The networks that this machine is in at the place where a connection came.
package struct LocalNetworks: Sendable {
    /// An address of the interface, 4 or 16 bytes in network order, and the bits that all hosts of its network have in common.
    package typealias Network = (bytes: [UInt8], prefixLength: Int)

    /// The kernel's number of the interface; nil if no interface has the address.
    package let interface: UInt32?
    /// Those of the interface; empty if none has the address.
    package let networks: [Network]
    /// All addresses of this machine.
    package let own: [[UInt8]]

    /// Asks the kernel.
    ///
    /// - Parameters:
    ///   - address: this side's address of the connection, 4 or 16 bytes.
    ///   - scope: the interface of a link-local one; 0 if unknown.
    package init(of address: [UInt8], scope: UInt32 = 0) {
        self.init(of: address, scope: scope, in: .current())
    }

    init(of address: [UInt8], scope: UInt32, in snapshot: NetworkSnapshot) {
        interface = snapshot.addresses.first { $0.bytes == address && [0, $0.interface].contains(scope) }?.interface
        let found = interface
        networks = snapshot.addresses.filter { $0.interface == found }.map { ($0.bytes, $0.prefixLength) }
        own = Array(snapshot.ownAddresses)
    }
}
