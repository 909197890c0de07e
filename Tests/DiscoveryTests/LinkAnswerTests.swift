import Testing

@testable import Discovery

@Suite("An answer to a question to the link")
struct LinkAnswerTests {
    private static let link = NetworkInterface(index: 2, name: "eth0", isLoopback: false)
    /// `kitchen._waft._tcp.local` as labels.
    private static let type = labels("_waft", "_tcp", "local")
    private static let instance = labels("abc") + type
    private static let host = labels("waft-1", "local")

    private static func labels(_ words: String...) -> [UInt8] {
        words.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
    }

    private static func record(_ name: [UInt8], _ type: UInt8, _ data: [UInt8]) -> [UInt8] {
        // Class IN, ten seconds.
        name + [0, 0, type, 0, 1, 0, 0, 0, 10, UInt8(data.count >> 8), UInt8(data.count & 0xFF)] + data
    }

    private static let pointer = record(type, 12, instance + [0])
    private static let place = record(instance, 33, [0, 0, 0, 0, 0x24, 0x16] + host + [0])
    private static let text = record(instance, 16, [3] + Array("v=1".utf8))
    private static func address(_ bytes: [UInt8]) -> [UInt8] { record(host, bytes.count == 4 ? 1 : 28, bytes) }

    private func read(
        _ answers: [[UInt8]], _ additional: [[UInt8]] = [], id: UInt8 = 7, flags: UInt8 = 0x84
    ) -> [DiscoveredService] {
        let head: [UInt8] = [0, id, flags, 0, 0, 0, 0, UInt8(answers.count), 0, 0, 0, UInt8(additional.count)]
        return LinkAnswer.services(
            in: head + answers.flatMap(\.self) + additional.flatMap(\.self), to: 7, "_waft._tcp", on: Self.link,
            ownAddresses: [[192, 0, 2, 9]])
    }

    @Test("tells of a service with its name, port, text and addresses, in either section")
    func whole() throws {
        let rest = [Self.place, Self.text, Self.address([192, 0, 2, 1])]
        for services in [read([Self.pointer] + rest), read([Self.pointer], rest)] {
            let service = try #require(services.first)
            #expect(service.instance == "abc" && service.hostName == "waft-1.local" && service.txt == ["v": "1"])
            #expect(service.addresses.map(\.host) == ["192.0.2.1"] && service.addresses.map(\.port) == [9_238])
            #expect(!service.isLocal)
        }
        let own = read([Self.pointer, Self.place, Self.text, Self.address([192, 0, 2, 9])])
        #expect(own.first?.isLocal == true)
    }

    @Test("says nothing if it belongs to another question, is none, or lacks a record")
    func partial() {
        let all = [Self.pointer, Self.place, Self.text, Self.address([192, 0, 2, 1])]
        #expect(read(all).count == 1)
        #expect(read(all, id: 8).isEmpty && read(all, flags: 0).isEmpty)
        for missing in all.indices {
            var some = all
            some.remove(at: missing)
            #expect(read(some).isEmpty, "\(missing)")
        }
    }

    @Test("says nothing of addresses that cannot be a peer's, and of names with escapes")
    func unusable() {
        for bytes in [[127, 0, 0, 1], [0, 0, 0, 0], [224, 0, 0, 251], [UInt8](repeating: 0, count: 16)] as [[UInt8]] {
            #expect(read([Self.pointer, Self.place, Self.text, Self.address(bytes)]).isEmpty)
        }
        #expect(read([Self.pointer, Self.place, Self.text, Self.record(Self.host, 1, [1, 2, 3])]).isEmpty)
        let odd = Self.labels("a b") + Self.type
        let records = [
            Self.record(Self.type, 12, odd + [0]), Self.record(odd, 33, [0, 0, 0, 0, 0, 1] + Self.host + [0]),
            Self.record(odd, 16, [0]), Self.address([192, 0, 2, 1]),
        ]
        #expect(read(records).isEmpty)
    }

    @Test("is read up to where it is cut off")
    func cut() {
        let all = [Self.pointer, Self.place, Self.text, Self.address([192, 0, 2, 1])]
        let whole: [UInt8] = [0, 7, 0x84, 0, 0, 0, 0, 4, 0, 0, 0, 0] + all.flatMap(\.self)
        for count in 0..<whole.count {
            let services = LinkAnswer.services(
                in: Array(whole.prefix(count)), to: 7, "_waft._tcp", on: Self.link, ownAddresses: [])
            #expect(services.isEmpty)
        }
    }
}
