internal import Glibc

/// The networks that this machine is in at one moment: whose announcements it may answer, and which hosts it may try one
/// after the other.
package struct OwnNetworks: Sendable, Hashable {
    /// Maximum number of networks of ``scanned``.
    package static let maximumScanned = 4

    /// A network whose hosts can be tried one after the other.
    package struct Scanned: Sendable, Hashable {
        package var interface: NetworkInterface
        /// This machine's address in it, in presentation form.
        package var address: String
        /// The addresses of possible hosts, in order and in presentation form: at most 254, none of them this machine's.
        package var hosts: [String]
    }

    private struct Network: Hashable {
        let interface: NetworkInterface
        /// In network order, 4 or 16.
        let address: [UInt8]
        let prefixLength: Int
    }

    /// In the order of their interfaces' names and of the addresses.
    private let networks: [Network]

    /// - Parameter denied: interfaces whose networks do not count.
    init(_ snapshot: NetworkSnapshot, denied: InterfacePatterns) {
        networks = snapshot.addresses.compactMap { address in
            guard let interface = snapshot.interfaces[address.interface], !denied.contains(interface.name) else {
                return nil
            }
            return Network(interface: interface, address: address.bytes, prefixLength: address.prefixLength)
        }.sorted {
            ($0.interface.name, $0.address.count) != ($1.interface.name, $1.address.count)
                ? ($0.interface.name, $0.address.count) < ($1.interface.name, $1.address.count)
                : $0.address.lexicographicallyPrecedes($1.address)
        }
    }

    /// The present networks.
    package static func current(denied: InterfacePatterns) -> OwnNetworks {
        OwnNetworks(.current(), denied: denied)
    }

    // MARK: Who may be answered

    /// Whether an address belongs to one host that is near: of a private, shared, link-local or loopback range, or in a
    /// network of this machine. No other address may be connected to because of a datagram: a forged one would make this
    /// machine attack a stranger.
    ///
    /// - Parameter host: in presentation form, with a scope or without. An IPv4 address in IPv6 is that IPv4 address.
    package func isOwnSubnet(_ host: String) -> Bool {
        guard var bytes = Self.bytes(of: host) else { return false }
        if bytes.count == 16, bytes[..<10].allSatisfy({ $0 == 0 }), bytes[10] == 0xFF, bytes[11] == 0xFF {
            bytes = Array(bytes[12...])
        }
        return isOwnSubnet(bytes)
    }

    /// - Parameter address: in network order, 4 or 16.
    func isOwnSubnet(_ address: [UInt8]) -> Bool {
        // Neither unspecified nor for many.
        guard ServiceAddress.Reach(bytes: address) != nil else { return false }
        return Self.isLocal(address)
            || networks.contains {
                $0.address.count == address.count && $0.prefixLength >= Self.shortestPrefix
                    && Self.agree($0.address, address, bits: $0.prefixLength)
            }
    }

    /// Bits of the prefix of the largest network that counts. A tunnel may claim the whole Internet.
    private static let shortestPrefix = 8

    /// Whether an address is in a range that no router of the Internet forwards.
    private static func isLocal(_ address: [UInt8]) -> Bool {
        if address.count == 4 {
            return switch (address[0], address[1]) {
            case (10, _), (127, _), (192, 168), (169, 254), (172, 16...31), (100, 64...127): true
            default: false
            }
        }
        return switch ServiceAddress.Reach(bytes: address) {
        case .loopback, .linkLocal, .uniqueLocal: true
        default: false
        }
    }

    private static func agree(_ left: [UInt8], _ right: [UInt8], bits: Int) -> Bool {
        zip(left, right).enumerated().allSatisfy { index, pair in
            let wanted = min(max(bits - 8 * index, 0), 8)
            return (pair.0 ^ pair.1) >> UInt8(8 - wanted) == 0
        }
    }

    // MARK: Who can be tried

    /// The part of each own IPv4 network that has the same first 24 bits as the own address, at most
    /// ``maximumScanned``.
    package var scanned: [Scanned] {
        let own = Set(networks.map(\.address))
        var seen: Set<[UInt8]> = []
        var found: [Scanned] = []
        for network in networks where network.address.count == 4 && !network.interface.isLoopback {
            guard ServiceAddress.Reach(bytes: network.address) == .ipv4, found.count < Self.maximumScanned,
                seen.insert(Array(network.address[..<3])).inserted, let text = LocalLink.text(network.address)
            else { continue }
            let hosts = (UInt8(1)...254).map { Array(network.address[..<3]) + [$0] }
                .filter { !own.contains($0) && Self.agree($0, network.address, bits: network.prefixLength) }
            guard !hosts.isEmpty else { continue }
            found.append(
                Scanned(interface: network.interface, address: text, hosts: hosts.compactMap { LocalLink.text($0) }))
        }
        return found
    }

    /// The bytes of an address in presentation form, in network order, without its scope; nil if it is none.
    static func bytes(of host: String) -> [UInt8]? {
        guard host.utf8.count <= 64, let text = host.split(separator: "%", omittingEmptySubsequences: false).first
        else {
            return nil
        }
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, String(text), &bytes) == 1 { return Array(bytes[..<4]) }
        return inet_pton(AF_INET6, String(text), &bytes) == 1 ? bytes : nil
    }
}
