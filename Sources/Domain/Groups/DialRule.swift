/// Selects the addresses that a member dials for a sender (`Group.md`, section 4; security rule 24).
///
/// A hostile sender must not be able to use a member to reach services of its own machine, or machines of other networks.
package struct DialRule: Hashable, Sendable {
    /// The subnets of the interface on which the sender's control connection came.
    package var subnets: [Subnet]
    /// All addresses of this machine, on all interfaces.
    package var own: Set<NetworkAddress>

    package init(subnets: [Subnet], own: Set<NetworkAddress>) {
        self.subnets = subnets
        self.own = Set(own.map(\.plain))
    }

    /// The addresses that may be dialled, in their order.
    ///
    /// An honest sender names all addresses of a member, also those in networks that this machine is not in. So forbidden ones
    /// are left out, and the place is good if one remains.
    /// - Throws: if there are more than `GroupLimits.addresses`, if the port is below `GroupLimits.minimumPort`, or why the
    ///   first address is forbidden if all are.
    package func permitted(_ addresses: [NetworkAddress], port: UInt16) throws(DialError) -> [NetworkAddress] {
        guard addresses.count <= GroupLimits.addresses else { throw .tooManyAddresses(addresses.count) }
        guard port >= GroupLimits.minimumPort else { throw .port(port) }
        guard let first = addresses.first else { throw .noAddress }
        let permitted = addresses.map(\.plain).filter { refusal(of: $0) == nil }
        if permitted.isEmpty, let refusal = refusal(of: first.plain) { throw refusal }
        return permitted
    }

    private func refusal(of address: NetworkAddress) -> DialError? {
        if address.isLoopback { return .loopback }
        if address.isNoHost { return .noHost }
        if own.contains(address) { return .ownAddress }
        return subnets.contains { $0.contains(address) } ? nil : .otherNetwork
    }
}

/// Why a member does not dial the next one.
package enum DialError: Error, Hashable, Sendable {
    case tooManyAddresses(Int)
    case noAddress
    case port(UInt16)
    case loopback
    case noHost
    case ownAddress
    case otherNetwork
}

extension DialError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooManyAddresses(let count): "the next member has \(count) addresses"
        case .noAddress: "the next member has no address"
        case .port(let port): "the next member has the port \(port), below \(GroupLimits.minimumPort)"
        case .loopback: "the next member has a loopback address"
        case .noHost: "the next member has an address that is not of one host"
        case .ownAddress: "the next member has an address of this machine"
        case .otherNetwork: "the next member has an address of another network"
        }
    }
}
