import Discovery
import Glibc

/// The commands about a group of datagrams.
struct MulticastProbe {
    private static let group = "224.0.0.167"
    /// Multicast DNS: RFC 6762, section 3.
    private static let mdns = MulticastAddresses(ipv4: "224.0.0.251", ipv6: "ff02::fb", port: 5_353)

    private let group: MulticastGroup
    private let port: UInt16

    /// Joins, and prints what happens from then on.
    init?(port: UInt16, denied: InterfacePatterns) async {
        self.port = port
        let own = MulticastAddresses(ipv4: Self.group, ipv6: "ff12::fd3a:e420", port: port)
        let place = port == Self.mdns.port ? Self.mdns : own
        guard let group = try? MulticastGroup(place, denied: denied) else { return nil }
        self.group = group
        let (datagrams, addresses) = (group.datagrams(), group.newAddresses())
        Report(event: "joined", standing: await group.join()).print()
        let standings = await group.watchStanding()
        Task { for await datagram in datagrams { Report(datagram).print() } }
        Task { for await _ in addresses { Report(event: "newAddress").print() } }
        Task { for await standing in standings { Report(event: "standing", standing: standing).print() } }
    }

    func say(_ text: String) async {
        Report(event: "said", key: "\(await group.send(Array(text.utf8)))").print()
    }

    /// Sends from a socket of its own, by IPv4.
    func shout(_ count: Int, bytes: Int) {
        let file = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(file) }
        var membership = ip_mreqn()
        membership.imr_ifindex = Int32(bitPattern: if_nametoindex("eth0"))
        setsockopt(file, Int32(IPPROTO_IP), IP_MULTICAST_IF, &membership, socklen_t(MemoryLayout<ip_mreqn>.size))
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_port = port.bigEndian
        inet_pton(AF_INET, Self.group, &place.sin_addr)
        let contents = [UInt8](repeating: UInt8(ascii: "x"), count: bytes)
        for _ in 0..<count {
            withUnsafePointer(to: place) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    _ = sendto(file, contents, contents.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }
        Report(event: "shouted").print()
    }
}

extension Report {
    init(event: String, standing: MulticastState) {
        self.init(event: event, key: standing.interfaces.joined(separator: ","), cause: standing.obstacle)
    }

    init(_ datagram: MulticastDatagram) {
        self.init(event: "heard", key: String(decoding: datagram.bytes, as: UTF8.self))
        let source = datagram.source
        addresses = [
            Address(host: source.host, scope: source.scope, interface: datagram.interface.name, port: source.port)
        ]
    }
}
