import Testing

@testable import Groups

@Suite("What a member may dial")
struct DialRuleTests {
    /// 192.0.2.0/24 and fe80::/64 of the interface; an address of another interface is the machine's own, too.
    private let rule = DialRule(
        subnets: [
            Subnet(.v4(0xC000_0205), prefixLength: 24), Subnet(.v6(0xFE80_0000_0000_0000, 5), prefixLength: 64),
        ],
        own: [.v4(0xC000_0205), .v6(0xFE80_0000_0000_0000, 5), .v4(0xCB00_7105)])

    private let neighbour = NetworkAddress.v4(0xC000_0207)

    /// The addresses of an attack, and the reason why they are refused.
    private static let attacks: [(String, NetworkAddress, DialError)] = [
        ("127.0.0.1", .v4(0x7F00_0001), .loopback),
        ("127.255.255.254", .v4(0x7FFF_FFFE), .loopback),
        ("::1", .v6(0, 1), .loopback),
        ("::ffff:127.0.0.1", .v6(0, 0xFFFF_7F00_0001), .loopback),
        ("::127.0.0.1", .v6(0, 0x7F00_0001), .loopback),
        ("64:ff9b::127.0.0.1", .v6(0x0064_FF9B_0000_0000, 0x7F00_0001), .loopback),
        ("0.0.0.0", .v4(0), .noHost),
        ("0.1.2.3", .v4(0x0001_0203), .noHost),
        ("::", .v6(0, 0), .noHost),
        ("255.255.255.255", .v4(.max), .noHost),
        ("224.0.0.251", .v4(0xE000_00FB), .noHost),
        ("ff02::fb", .v6(0xFF02_0000_0000_0000, 0xFB), .noHost),
        ("an own address", .v4(0xC000_0205), .ownAddress),
        ("an own address of another interface", .v4(0xCB00_7105), .ownAddress),
        ("an own address in IPv6", .v6(0, 0xFFFF_C000_0205), .ownAddress),
        ("another network", .v4(0x0808_0808), .otherNetwork),
        ("the subnet's first address", .v4(0xC000_0200), .otherNetwork),
        ("the subnet's broadcast address", .v4(0xC000_02FF), .otherNetwork),
        ("another link-local network", .v6(0xFE80_0000_0000_0001, 7), .otherNetwork),
        ("2001:db8::1", .v6(0x2001_0DB8_0000_0000, 1), .otherNetwork),
    ]

    @Test("no address of an attack is dialled, alone or beside a good one", arguments: attacks)
    func attack(name: String, address: NetworkAddress, error: DialError) throws {
        #expect(throws: error, "\(name)") { try rule.permitted([address], port: 4_000) }
        #expect(try rule.permitted([address, neighbour], port: 4_000) == [neighbour], "\(name)")
    }

    @Test("a neighbour is dialled, also by its address of IPv4 in IPv6")
    func neighbours() throws {
        let near = NetworkAddress.v6(0xFE80_0000_0000_0000, 7)
        #expect(try rule.permitted([neighbour, near], port: 1_024) == [neighbour, near])
        #expect(try rule.permitted([.v6(0, 0xFFFF_C000_0207)], port: 4_000) == [neighbour])
    }

    @Test("ports of the system are not dialled", arguments: [0, 22, 1_023] as [UInt16])
    func ports(port: UInt16) {
        #expect(throws: DialError.port(port)) { try rule.permitted([neighbour], port: port) }
    }

    @Test("at least one address is dialled, and at most four")
    func counts() {
        #expect(throws: DialError.noAddress) { try rule.permitted([], port: 4_000) }
        #expect(throws: DialError.tooManyAddresses(5)) {
            try rule.permitted(Array(repeating: neighbour, count: 5), port: 4_000)
        }
    }

    /// A virtual private network has an interface with one address.
    @Test("the subnet of one address has no neighbours")
    func alone() {
        let rule = DialRule(subnets: [Subnet(.v4(0x6440_0001), prefixLength: 32)], own: [.v4(0x6440_0001)])
        #expect(throws: DialError.otherNetwork) { try rule.permitted([.v4(0x6440_0002)], port: 4_000) }
    }

    @Test("prefixes of all lengths hold what they should")
    func prefixes() {
        let low = NetworkAddress.v4(0x0A00_0001)
        #expect(Subnet(low, prefixLength: 31).contains(.v4(0x0A00_0000)))
        #expect(!Subnet(low, prefixLength: 30).contains(.v4(0x0A00_0000)))
        #expect(Subnet(low, prefixLength: 8).contains(.v4(0x0AFF_FFFE)))
        #expect(!Subnet(low, prefixLength: 8).contains(.v4(0x0B00_0001)))
        #expect(!Subnet(low, prefixLength: 33).contains(low))
        #expect(!Subnet(low, prefixLength: -1).contains(low))
        let long = NetworkAddress.v6(1, 0xFF00)
        #expect(Subnet(long, prefixLength: 120).contains(.v6(1, 0xFF07)))
        #expect(!Subnet(long, prefixLength: 120).contains(.v6(1, 0xFE07)))
        #expect(Subnet(long, prefixLength: 128).contains(long))
        #expect(!Subnet(long, prefixLength: 128).contains(.v6(1, 0xFF01)))
        #expect(!Subnet(long, prefixLength: 64).contains(low))
    }
}
