import Testing

@testable import Discovery

@Suite("Services in ordinary DNS")
struct DomainLookupTests {
    private typealias Record = DomainQuery.Record

    private func look(_ answers: [String: [Record]]) -> (services: [DiscoveredService], isComplete: Bool) {
        let lookup = DomainLookup(type: "_waft._tcp", domain: "example.org", deadline: .now + .seconds(60)) {
            name, type throws(DomainQuery.SilenceError) in
            guard let records = answers["\(name) \(type)"] else { throw DomainQuery.SilenceError() }
            return records
        }
        var services: [DiscoveredService] = []
        let isComplete = lookup.run([[192, 0, 2, 9]]) { services.append($0) }
        return (services, isComplete)
    }

    private func host(_ addresses: [[UInt8]], port: UInt16 = 9_238, txt: [UInt8] = [3] + Array("v=1".utf8)) -> [String:
        [Record]]
    {
        [
            "_waft._tcp.example.org ptr": [Record(target: "a._waft._tcp.example.org")],
            "a._waft._tcp.example.org srv": [Record(target: "a.example.org", port: port)],
            "a._waft._tcp.example.org txt": [Record(data: txt)],
            "a.example.org a": addresses.filter { $0.count != 16 }.map { Record(data: $0) },
            "a.example.org aaaa": addresses.filter { $0.count == 16 }.map { Record(data: $0) },
        ]
    }

    @Test("are found by PTR, SRV, TXT and addresses")
    func found() throws {
        let result = look(host([[192, 0, 2, 1]]))
        #expect(result.isComplete)
        let service = try #require(result.services.first)
        #expect(service.instance == "a._waft._tcp.example.org")
        #expect(service.addresses.map(\.host) == ["192.0.2.1"])
        #expect(service.addresses.map(\.port) == [9_238])
        #expect(service.txt == ["v": "1"])
        #expect(!service.isLocal)
        #expect(look(host([[192, 0, 2, 9]])).services.first?.isLocal == true)
    }

    @Test(
        "at loopback, link-local, multicast or malformed addresses, without a port, or with a TXT record too large are none",
        arguments: [[127, 0, 0, 1], [169, 254, 1, 1], [224, 0, 0, 251], [0, 0, 0, 0], [1, 2, 3]] as [[UInt8]])
    func refused(address: [UInt8]) {
        #expect(look(host([address])).services == [])
        #expect(look(host([[192, 0, 2, 1]], port: 0)).services == [])
        let large = Array(repeating: [UInt8(255)] + [UInt8](repeating: 0x61, count: 255), count: 6).flatMap(\.self)
        #expect(look(host([[192, 0, 2, 1]], txt: large)).services == [])
    }

    @Test("a silent name server ends the look, which then counts as incomplete")
    func silent() {
        var answers = host([[192, 0, 2, 1]])
        answers["a.example.org a"] = nil
        let result = look(answers)
        #expect(result.services == [] && !result.isComplete)
        #expect(!look([:]).isComplete)
    }

    @Test("a domain that lists too many instances is read up to the limit")
    func bounded() {
        var answers = host([[192, 0, 2, 1]])
        answers["_waft._tcp.example.org ptr"] = (0..<1_000).map { Record(target: "\($0)._waft._tcp.example.org") }
        for number in 0..<1_000 {
            answers["\(number)._waft._tcp.example.org srv"] = [Record(target: "a.example.org", port: 1)]
            answers["\(number)._waft._tcp.example.org txt"] = []
        }
        #expect(look(answers).services.count == DiscoveryLimits.servicesPerDomain)
    }

    @Test("an answer is read record by record, and a malformed one ends early")
    func answers() {
        // One question, and two PTR records: the second points to itself.
        let name: [UInt8] = [1, 0x61, 0]
        let head: [UInt8] = [0, 1, 0x84, 0, 0, 1, 0, 2, 0, 0, 0, 0] + name + [0, 12, 0, 1]
        let good: [UInt8] = [0xC0, 12, 0, 12, 0, 1, 0, 0, 0, 9, 0, 4, 1, 0x62, 0xC0, 12]
        let loop: [UInt8] = [0xC0, 12, 0, 12, 0, 1, 0, 0, 0, 9, 0, 2, 0xC0, UInt8(head.count + good.count + 12)]
        #expect(DomainQuery.records(in: head + good + loop, .ptr).map(\.target) == ["b.a"])
        #expect(DomainQuery.records(in: head + good + loop, .srv) == [])
        for count in 0..<head.count { #expect(DomainQuery.records(in: Array(head.prefix(count)), .ptr) == []) }
        // An SRV record that is too short.
        let short: [UInt8] = [0xC0, 12, 0, 33, 0, 1, 0, 0, 0, 9, 0, 4, 0, 0, 0, 0]
        #expect(DomainQuery.records(in: head + short, .srv) == [])
    }

    @Test(
        "a domain has letters, digits, hyphens and underscores between dots",
        arguments: [
            ("example.org", true), ("a-b_c.d", true), ("lan", true), ("", false), (".", false), ("a..b", false),
            ("a.", false),
            ("a b", false), ("a/b", false), ("é.org", false), (String(repeating: "a", count: 64), false),
            (Array(repeating: "a", count: 200).joined(separator: "."), false),
        ])
    func domains(text: String, isDomain: Bool) {
        #expect(DomainBrowser.isDomain(text) == isDomain)
    }
}
