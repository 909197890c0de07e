import Testing

@testable import Discovery

@Suite("The networks of this machine")
struct OwnNetworksTests {
    private func networks(
        _ addresses: [(NetworkInterface, [UInt8], Int)], denied: InterfacePatterns = .none
    ) -> OwnNetworks {
        var snapshot = NetworkSnapshot()
        for (interface, bytes, prefixLength) in addresses {
            snapshot.interfaces[interface.index] = interface
            snapshot.addresses.insert(
                InterfaceAddress(interface: interface.index, bytes: bytes, prefixLength: prefixLength))
        }
        return OwnNetworks(snapshot, denied: denied)
    }

    @Test(
        "private, shared, link-local and loopback addresses are near on every machine",
        arguments: [
            "10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.1", "192.168.0.1", "100.64.0.1", "100.127.9.9",
            "169.254.1.1", "127.0.0.1", "::1", "fe80::1", "fe80::1%eth0", "febf::1", "fc00::1", "fdff::1",
            "::ffff:192.168.0.1",
        ])
    func near(host: String) {
        #expect(networks([]).isOwnSubnet(host))
    }

    @Test(
        "other addresses, those of many hosts, and other texts are not",
        arguments: [
            "8.8.8.8", "172.15.0.1", "172.32.0.1", "100.63.0.1", "100.128.0.1", "192.169.0.1", "11.0.0.1", "0.0.0.0",
            "0.0.0.1", "224.0.0.167", "255.255.255.255", "::", "ff02::1", "2001:db8::1", "fec0::1",
            "::ffff:8.8.8.8", "::ffff:0.0.0.0", "::8.8.8.8", "64:ff9b::a00:1", "", "%eth0", "localhost", "10.1",
            "0x0a000001",
            String(repeating: "1", count: 100),
        ])
    func far(host: String) {
        #expect(!networks([]).isOwnSubnet(host))
    }

    @Test("a public address is near in the network of an own one, to the bit, unless that is denied")
    func ownSubnet() {
        let own: [(NetworkInterface, [UInt8], Int)] = [
            (Sample.ethernet, [203, 0, 113, 66], 26), (Sample.wireless, Sample.global, 64),
        ]
        let networks = networks(own)
        for host in ["203.0.113.64", "203.0.113.127", "2001:db8::ffff:1", "::ffff:203.0.113.70"] {
            #expect(networks.isOwnSubnet(host))
        }
        for host in ["203.0.113.63", "203.0.113.128", "203.0.112.66", "2001:db8:0:1::1", "2001:db9::1"] {
            #expect(!networks.isOwnSubnet(host))
        }
        let denied = self.networks(own, denied: InterfacePatterns(["eth*"]))
        #expect(!denied.isOwnSubnet("203.0.113.66"))
        #expect(denied.isOwnSubnet("2001:db8::1"))
    }

    @Test("a network that claims most of the Internet makes nothing near")
    func tunnel() {
        let networks = networks([(Sample.ethernet, [93, 1, 2, 3], 1), (Sample.wireless, Sample.global, 0)])
        #expect(!networks.isOwnSubnet("8.8.8.8"))
        #expect(!networks.isOwnSubnet("2a00::1"))
    }

    @Test("the hosts around each own address can be tried, without the own ones")
    func scanned() throws {
        let networks = networks([
            (Sample.ethernet, [192, 168, 77, 5], 24), (Sample.ethernet, [192, 168, 77, 9], 24),
            (Sample.wireless, [10, 1, 2, 3], 8), (Sample.loopback, [127, 0, 0, 1], 8),
            (Sample.ethernet, Sample.global, 64), (Sample.wireless, [169, 254, 3, 4], 16),
        ])
        let scanned = networks.scanned
        #expect(scanned.map(\.address) == ["192.168.77.5", "10.1.2.3"])
        #expect(scanned.map(\.hosts.count) == [252, 253])
        #expect(scanned.allSatisfy { Set($0.hosts).isDisjoint(with: ["192.168.77.5", "192.168.77.9", "10.1.2.3"]) })
        let first = try #require(scanned.first)
        #expect(first.hosts.first == "192.168.77.1" && first.hosts.last == "192.168.77.254")
        #expect(first.interface == Sample.ethernet)
    }

    @Test("no host outside the own network is tried, and nothing on a denied interface")
    func scannedWithin() {
        let own: [(NetworkInterface, [UInt8], Int)] = [
            (Sample.ethernet, [203, 0, 113, 66], 30), (Sample.wireless, [100, 64, 0, 7], 32),
        ]
        #expect(networks(own).scanned.map(\.hosts) == [["203.0.113.64", "203.0.113.65", "203.0.113.67"]])
        #expect(networks(own, denied: InterfacePatterns(["eth0"])).scanned.isEmpty)
    }

    @Test("at most four networks are tried")
    func scannedAtMost() {
        let networks = networks((1...9).map { (Sample.ethernet, [10, 0, $0, 1], 24) })
        #expect(networks.scanned.map(\.address) == ["10.0.1.1", "10.0.2.1", "10.0.3.1", "10.0.4.1"])
    }
}
