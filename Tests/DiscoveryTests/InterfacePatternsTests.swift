import Testing

@testable import Discovery

@Suite("Interface patterns")
struct InterfacePatternsTests {
    @Test(
        "interfaces of containers and virtual machines are denied by default",
        arguments: [
            "docker0", "br-1f2e3d", "virbr0", "virbr0-nic", "veth12ab34", "docker_gwbridge",
        ])
    func denied(name: String) {
        #expect(InterfacePatterns.virtual.contains(name))
    }

    @Test(
        "interfaces of the machine are not denied by default",
        arguments: [
            "eth0", "wlan0", "enp3s0", "lo", "br0", "bridge", "tailscale0", "xveth0", "",
        ])
    func allowed(name: String) {
        #expect(!InterfacePatterns.virtual.contains(name))
    }

    @Test("a star stands for any characters and a question mark for one")
    func wildcards() {
        #expect(InterfacePatterns(["*"]).contains(""))
        #expect(InterfacePatterns(["*0"]).contains("eth0"))
        #expect(InterfacePatterns(["e*h*0"]).contains("eth10"))
        #expect(InterfacePatterns(["eth?"]).contains("eth1"))
        #expect(!InterfacePatterns(["eth?"]).contains("eth"))
        #expect(!InterfacePatterns(["eth?"]).contains("eth10"))
        #expect(!InterfacePatterns(["e*h*1"]).contains("eth10"))
        #expect(!InterfacePatterns.none.contains("eth0"))
    }

    @Test("a pattern with many stars does not take long")
    func manyStars() {
        let pattern = InterfacePatterns([String(repeating: "a*", count: 40) + "b"])
        #expect(!pattern.contains(String(repeating: "a", count: 4_000)))
    }
}
