import Discovery
import SecureTransport
import Testing

@testable import Endpoints

@Suite("The addresses of the page for guests")
struct PageAddressesTests {
    private static let loopback = [address("lo", "127.0.0.1"), address("lo", "::1")]

    private static func address(
        _ interface: String, _ text: String, isConnected: Bool = true
    ) -> PageAddresses.Own {
        PageAddresses.Own(interface: interface, text: text, isConnected: isConnected)
    }

    private func addresses(_ own: PageAddresses.Own...) -> PageAddresses {
        PageAddresses(denied: .virtual, own: Self.loopback + own)
    }

    @Test("guests are shown the addresses that they reach, IPv4 first, and none of loopback")
    func reachable() {
        let found = addresses(
            Self.address("docker0", "172.17.0.1"), Self.address("wlan0", "fd00::2"),
            Self.address("eth0", "169.254.1.2"), Self.address("wlan0", "192.168.1.20"))
        #expect(found.shown(port: 7443) == ["192.168.1.20:7443", "[fd00::2]:7443"])
        #expect(addresses(Self.address("eth0", "169.254.1.2")).shown(port: 80) == ["169.254.1.2:80"])
    }

    @Test("only loopback is shown without a cable, and with link-local IPv6 addresses alone")
    func unreachable() {
        let alone = ["127.0.0.1:7443", "[::1]:7443"]
        #expect(addresses().shown(port: 7443) == alone)
        #expect(addresses(Self.address("eth0", "192.168.1.20", isConnected: false)).shown(port: 7443) == alone)
        #expect(addresses(Self.address("eth0", "fe80::1")).shown(port: 7443) == alone)
        #expect(PageAddress.areLocal(alone) && !PageAddress.areLocal(["10.0.0.1:7443"] + alone))
    }

    @Test("programs reach the page at each address of this machine")
    func authorities() {
        let found = addresses(
            Self.address("eth0", "192.168.1.20", isConnected: false), Self.address("eth0", "fe80::1"))
        let names = found.authorities(port: 7443, isPlain: false)
        #expect(names.isSuperset(of: ["192.168.1.20:7443", "[fe80::1]:7443", "127.0.0.1:7443", "localhost:7443"]))
        #expect(!names.contains("192.168.1.20"))
        #expect(found.authorities(port: 443, isPlain: false).isSuperset(of: ["[fe80::1]", "[fe80::1]:443"]))
        #expect(!found.names.addresses.contains("fe80::1"), "it says nothing on another link")
    }
}
