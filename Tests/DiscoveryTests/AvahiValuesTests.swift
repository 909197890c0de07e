import CAvahi
import Testing

@testable import Discovery

@Suite("Values from and for Avahi")
struct AvahiValuesTests {
    private func parse(_ strings: [[UInt8]]) -> [String: String]? {
        var list: UnsafeMutablePointer<AvahiStringList>?
        // Avahi adds to the front of its lists.
        for string in strings.reversed() { list = avahi_string_list_add_arbitrary(list, string, string.count) }
        defer { avahi_string_list_free(list) }
        return AvahiValues.resolution(hostName: "kitchen.local", address: nil, port: 1, txt: list)?.txt
    }

    @Test("a TXT record is read as RFC 6763 requires: the first of equal keys, in any case, without malformed pairs")
    func txt() {
        let strings =
            ["v=1", "V=2", "flag", "=x", "", "a=b=c", "empty="].map { Array($0.utf8) } + [[0x6b, 0x3d, 0xff]]
        #expect(parse(strings) == ["v": "1", "a": "b=c", "empty": ""])
        #expect(parse([]) == [:])
    }

    @Test("a TXT record beyond the limits is not read")
    func largeTXT() {
        #expect(parse([Array("k=".utf8) + [UInt8](repeating: 0x78, count: 254)]) == nil)
        #expect(parse((0..<6).map { Array("\($0)=".utf8) + [UInt8](repeating: 0x78, count: 215) }) == nil)
        #expect(parse((0..<5).map { Array("\($0)=".utf8) + [UInt8](repeating: 0x78, count: 250) })?.count == 5)
    }

    @Test(
        "names that are too long, empty or not UTF-8 are refused",
        arguments: [
            [], [UInt8](repeating: 0x78, count: 64), [0xff, 0xfe], [0xc3],
        ] as [[UInt8]])
    func names(bytes: [UInt8]) {
        let text = bytes.map { CChar(bitPattern: $0) } + [0]
        #expect(
            AvahiValues.sighting(interface: 2, transport: 0, name: text, type: "_waft._tcp", domain: "local") == nil
        )
    }

    @Test("a name of 63 bytes with control characters is taken as it is")
    func oddName() {
        let name = "\u{1b}[31m\n" + String(repeating: "ü", count: 28)
        let sighting = AvahiValues.sighting(
            interface: 2, transport: 1, name: name, type: "_waft._tcp", domain: "local"
        )
        #expect(name.utf8.count <= 63)
        #expect(sighting?.instance == name)
        #expect(sighting?.transport == .ipv6)
    }

    @Test("interfaces and transports that there are not are refused")
    func numbers() {
        for (interface, transport) in [(-1, 0), (0, 0), (2, -1), (2, 2)] as [(Int32, Int32)] {
            #expect(
                AvahiValues.sighting(
                    interface: interface, transport: transport, name: "abc", type: "_waft._tcp", domain: "local"
                ) == nil
            )
        }
    }

    @Test("addresses are given in bytes and in text")
    func addresses() throws {
        for (text, family) in [("192.168.77.1", Int32(0)), ("fe80::1", 1)] {
            var address = AvahiAddress()
            #expect(avahi_address_parse(text, family, &address) != nil)
            let resolution = AvahiValues.resolution(hostName: "kitchen.local", address: &address, port: 1, txt: nil)
            let resolved = try #require(resolution?.address)
            #expect(resolved.host == text)
            #expect(resolved.bytes == (family == 0 ? Sample.v4 : Sample.linkLocal))
        }
    }

    @Test(
        "descriptions that DNS-SD has no room for are refused",
        arguments: [
            ServiceDescription(type: "_waft._tcp", instance: "", port: 1),
            ServiceDescription(type: "_waft._tcp", instance: String(repeating: "x", count: 64), port: 1),
            ServiceDescription(type: "_waft._tcp", instance: "a\0b", port: 1),
            ServiceDescription(type: "waft", instance: "abc", port: 1),
            ServiceDescription(type: "_waft._tcp", instance: "abc", port: 0),
            ServiceDescription(type: "_waft._tcp", instance: "abc", port: 1, txt: ["": "1"]),
            ServiceDescription(type: "_waft._tcp", instance: "abc", port: 1, txt: ["a=b": "1"]),
            ServiceDescription(type: "_waft._tcp", instance: "abc", port: 1, txt: ["ä": "1"]),
            ServiceDescription(type: "_waft._tcp", instance: "abc", port: 1, txt: ["k": "\0"]),
            ServiceDescription(
                type: "_waft._tcp", instance: "abc", port: 1, txt: ["k": String(repeating: "x", count: 254)]
            ),
            ServiceDescription(
                type: "_waft._tcp",
                instance: "abc",
                port: 1,
                txt: Dictionary(uniqueKeysWithValues: (0..<6).map { ("\($0)", String(repeating: "x", count: 250)) })
            ),
        ])
    func invalid(service: ServiceDescription) {
        #expect { try service.validate() } throws: { ($0 as? DiscoveryError)?.code == .invalidDescription }
    }

    @Test("a description at the limits is accepted")
    func valid() throws {
        try ServiceDescription(
            type: "_waft._tcp",
            instance: String(repeating: "x", count: 63),
            port: 65_535,
            txt: Dictionary(uniqueKeysWithValues: (0..<5).map { ("\($0)", String(repeating: "x", count: 253)) })
        ).validate()
    }

    @Test("addresses are given to Avahi as they are")
    func givenAddresses() throws {
        for (bytes, text) in [(Sample.v4, "192.168.77.1"), (Sample.linkLocal, "fe80::1")] {
            var address = AvahiValues.address(bytes)
            let resolution = AvahiValues.resolution(hostName: "kitchen.local", address: &address, port: 1, txt: nil)
            let resolved = try #require(resolution?.address)
            #expect(resolved.host == text && resolved.bytes == bytes)
        }
    }

    @Test("the embedded responder has another random host name each time")
    func hostName() {
        let names = Set((0..<100).map { _ in EmbeddedHost.randomName() })
        #expect(names.count == 100)
        #expect(names.allSatisfy { $0.wholeMatch(of: /waft-[0-9a-f]{16}\.local/) != nil })
    }

    @Test("a lost responder is tried again at once, then ever later, but at least every ten seconds")
    func pauses() {
        let pauses = [0, 1, 2, 3, 20, 1_000_000].map { AvahiDirectory.pause(afterFailures: $0) }
        #expect(
            pauses == [.zero, .milliseconds(100), .milliseconds(200), .milliseconds(400), .seconds(10), .seconds(10)])
    }
}
