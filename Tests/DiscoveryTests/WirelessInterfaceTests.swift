import Foundation
import TestSupport
import Testing

@testable import Discovery

@Suite("Wireless interfaces")
struct WirelessInterfaceTests {
    @Test("an interface is wireless by its folder of the kernel, or because a test says so")
    func folders() throws {
        let folder = TemporaryFolder()
        for path in ["wlan0/phy80211", "wlan1/wireless", "eth0"] {
            try FileManager.default.createDirectory(atPath: folder / path, withIntermediateDirectories: true)
        }
        func isWireless(_ name: String, named: [String] = []) -> Bool {
            WirelessInterface.isWireless(name, in: folder.path, named: InterfacePatterns(named))
        }
        #expect(["wlan0", "wlan1", "eth0", "eth1"].map { isWireless($0) } == [true, true, false, false])
        #expect(isWireless("eth0", named: ["eth*"]))
    }

    @Test("loopback is not wireless, and an address that nobody has neither")
    func addresses() {
        for address in ["127.0.0.1", "::1", "192.0.2.1", "kitchen", ""] {
            #expect(!WirelessInterface.has(address: address))
        }
    }
}
