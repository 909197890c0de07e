/// A datagram that came to a ``MulticastGroup``.
package struct MulticastDatagram: Sendable, Hashable {
    /// At most ``DiscoveryLimits/datagramBytes``.
    package var bytes: [UInt8]
    /// The sender's address and UDP port. It lies in a network of this machine; anyone in there can forge it.
    package var source: ServiceAddress
    /// The interface on which the datagram came.
    package var interface: NetworkInterface

    package init(bytes: [UInt8], source: ServiceAddress, interface: NetworkInterface) {
        (self.bytes, self.source, self.interface) = (bytes, source, interface)
    }
}
