import Testing

@testable import Discovery

@Suite("Service addresses")
struct ServiceAddressTests {
    @Test("they are tried in the order loopback, global, unique local, IPv4, link-local")
    func order() throws {
        let expected = [
            try Sample.address([127, 0, 0, 1], on: Sample.loopback),
            try Sample.address(Sample.global),
            try Sample.address(Sample.uniqueLocal),
            try Sample.address(Sample.v4),
            try Sample.address(Sample.linkLocal),
            try Sample.address([169, 254, 1, 1]),
        ]
        #expect(expected.reversed().sorted() == expected)
    }

    @Test("a link-local IPv6 address keeps its interface as scope, others have none")
    func scope() throws {
        #expect(try Sample.address(Sample.linkLocal, on: Sample.wireless).scope == 3)
        #expect(try Sample.address(Sample.uniqueLocal, on: Sample.wireless).scope == 0)
        #expect(try Sample.address([169, 254, 1, 1], on: Sample.wireless).scope == 0)
        #expect(try Sample.address(Sample.v4, on: Sample.wireless).scope == 0)
    }

    @Test(
        "an address that cannot belong to one machine is refused",
        arguments: [
            [0, 0, 0, 0], [224, 0, 0, 251], [239, 1, 1, 1], [255, 255, 255, 255], [127, 0, 0, 1], [], [1, 2, 3],
            [UInt8](repeating: 0, count: 16), [UInt8](repeating: 0, count: 15) + [1],
            [0xff, 0x02] + [UInt8](repeating: 0, count: 13) + [0xfb],
            [UInt8](repeating: 0, count: 10) + [0xff, 0xff, 192, 168, 77, 1],
            [UInt8](repeating: 0, count: 12) + [192, 168, 77, 1],
        ] as [[UInt8]])
    func refused(bytes: [UInt8]) {
        #expect(ServiceAddress(bytes: bytes, host: "address", interface: Sample.ethernet, port: 4711) == nil)
    }

    @Test("a loopback address is believed if it was received on loopback")
    func loopback() throws {
        #expect(try Sample.address([127, 0, 0, 1], on: Sample.loopback).reach == .loopback)
        let v6 = [UInt8](repeating: 0, count: 15) + [1]
        #expect(try Sample.address(v6, on: Sample.loopback).reach == .loopback)
    }

    @Test("port 0 is refused")
    func portZero() {
        #expect(ServiceAddress(bytes: Sample.v4, host: "address", interface: Sample.ethernet, port: 0) == nil)
    }
}
