import Testing

@testable import Sending

@Suite("Whom --to means")
struct PeerReferenceTests {
    @Test(
        "addresses with and without port",
        arguments: [
            ("192.168.1.7", "192.168.1.7", 9_238), ("192.168.1.7:80", "192.168.1.7", 80), ("nas.lan:22", "nas.lan", 22),
            ("::1", "::1", 9_238), ("[::1]", "::1", 9_238), ("[::1]:80", "::1", 80),
            ("fe80::1%eth0", "fe80::1%eth0", 9_238),
            ("[fe80::1%eth0]:80", "fe80::1%eth0", 80), ("localhost:4001", "localhost", 4_001),
        ] as [(String, String, UInt16)])
    func addresses(text: String, host: String, port: UInt16) throws {
        #expect(try PeerReference(text) == .address(host: host, port: port))
    }

    @Test(
        "everything without a port is a name",
        arguments: ["kitchen", "k7qf-9m2c", "nas.lan", "käse küche", "a b", "a:b", "Anna: phone", "[x y] z"])
    func names(text: String) throws {
        #expect(try PeerReference(text) == .name(text))
    }

    @Test(
        "a reference to no peer is refused",
        arguments: ["", "a:", "a:0", "a:65536", ":80", "[::1]x", "[::1]:", String(repeating: "x", count: 256)])
    func refused(text: String) {
        #expect(throws: PeerReference.FormatError.self) { try PeerReference(text) }
    }
}
