internal import Glibc

/// A network interface of this machine.
package struct NetworkInterface: Sendable, Hashable {
    /// The kernel's number of the interface, never reused while the machine runs.
    package var index: UInt32
    package var name: String
    package var isLoopback: Bool

    package init(index: UInt32, name: String, isLoopback: Bool) {
        self.index = index
        self.name = name
        self.isLoopback = isLoopback
    }
}

/// An address of this machine on one of its interfaces.
struct InterfaceAddress: Sendable, Hashable {
    var interface: UInt32
    /// In network order, 4 or 16.
    var bytes: [UInt8]
    /// Bits of the address that all hosts of its network have in common; 0 if they are not known.
    var prefixLength = 0
}

/// The interfaces and addresses of this machine at one moment.
struct NetworkSnapshot: Sendable, Hashable {
    /// All interfaces, in any state.
    var interfaces: [UInt32: NetworkInterface] = [:]
    /// Interfaces that are up and have a carrier, and are either loopback or able to multicast and not point-to-point:
    /// Avahi's own rule with `use-iff-running`.
    var usable: Set<UInt32> = []
    /// Interfaces that lack nothing but a carrier: the cable is out, or no Wi-Fi network is joined.
    var unplugged: Set<UInt32> = []
    var addresses: Set<InterfaceAddress> = []

    var usableInterfaces: [NetworkInterface] { usable.compactMap { interfaces[$0] } }

    var ownAddresses: Set<[UInt8]> { Set(addresses.map(\.bytes)) }

    /// The addresses to announce on an interface: all its addresses, but link-local ones only if it has no others of
    /// the family. Hosts on the link can reach the others too, without a scope.
    func announcedAddresses(on interface: NetworkInterface) -> Set<InterfaceAddress> {
        let own = addresses.filter { $0.interface == interface.index }
        return own.filter { address in
            guard let reach = ServiceAddress.Reach(bytes: address.bytes) else { return false }
            switch reach {
            case .loopback: return interface.isLoopback
            case .linkLocal, .ipv4LinkLocal:
                return !own.contains { other in
                    let otherReach = ServiceAddress.Reach(bytes: other.bytes)
                    return other.bytes.count == address.bytes.count && otherReach.map { $0 < .linkLocal } == true
                }
            case .global, .uniqueLocal, .ipv4: return true
            }
        }
    }

    /// The addresses to announce for a service at `ServiceDescription.Host.ownOnLink`.
    func onLinkAddresses(on interface: NetworkInterface) -> Set<InterfaceAddress> {
        let linkLocal = addresses.filter {
            $0.interface == interface.index && ServiceAddress.Reach(bytes: $0.bytes) == .linkLocal
        }
        let announced = announcedAddresses(on: interface)
        return linkLocal.isEmpty ? announced : announced.filter { $0.bytes.count == 4 }.union(linkLocal)
    }
}

extension NetworkSnapshot {
    /// The kernel's present state; empty if it does not answer.
    static func current() -> NetworkSnapshot {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return NetworkSnapshot() }
        defer { freeifaddrs(list) }
        var snapshot = NetworkSnapshot()
        var next = list
        while let entry = next?.pointee {
            next = entry.ifa_next
            snapshot.add(entry)
        }
        return snapshot
    }

    private mutating func add(_ entry: ifaddrs) {
        // An IPv4 address may have a label of its own: `eth0:1`.
        guard let label = String(validatingCString: entry.ifa_name), let name = label.split(separator: ":").first,
            // An entry without an address: a tunnel that has none, listed here for its flags alone.
            let address = entry.ifa_addr
        else { return }
        // The interface may have gone meanwhile. The monitor will notice that change.
        let index = if_nametoindex(String(name))
        guard index != 0 else { return }
        switch Int32(address.pointee.sa_family) {
        // Every interface has exactly one entry of this family, even without an address.
        case AF_PACKET: addInterface(index, String(name), flags: entry.ifa_flags)
        case AF_INET:
            address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                let mask = entry.ifa_netmask?.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { mask in
                    withUnsafeBytes(of: mask.pointee.sin_addr) { Array($0) }
                }
                addAddress(index, withUnsafeBytes(of: $0.pointee.sin_addr) { Array($0) }, mask)
            }
        case AF_INET6:
            address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                let mask = entry.ifa_netmask?.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { mask in
                    withUnsafeBytes(of: mask.pointee.sin6_addr) { Array($0) }
                }
                addAddress(index, withUnsafeBytes(of: $0.pointee.sin6_addr) { Array($0) }, mask)
            }
        default: break
        }
    }

    private mutating func addAddress(_ interface: UInt32, _ bytes: [UInt8], _ mask: [UInt8]?) {
        let prefixLength = mask?.reduce(0) { $0 + $1.nonzeroBitCount } ?? 0
        addresses.insert(InterfaceAddress(interface: interface, bytes: bytes, prefixLength: prefixLength))
    }

    mutating func addInterface(_ index: UInt32, _ name: String, flags: UInt32) {
        func has(_ flag: Int) -> Bool { flags & UInt32(flag) != 0 }
        let isLoopback = has(IFF_LOOPBACK)
        interfaces[index] = NetworkInterface(index: index, name: name, isLoopback: isLoopback)
        guard has(IFF_UP), isLoopback || (has(IFF_MULTICAST) && !has(IFF_POINTOPOINT)) else { return }
        // The kernel counts an interface whose operational state is unknown as running: loopback, and many virtual ones.
        if has(IFF_RUNNING) { usable.insert(index) } else { unplugged.insert(index) }
    }
}
