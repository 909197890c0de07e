import Foundation
import Testing

@Suite("A transfer by AirDrop", .serialized, .timeLimit(.minutes(2)))
struct AirDropVisibilityTests {
    @Test("that was accepted continues when this machine is no longer visible, and no other peer gets in")
    func outlives() async throws {
        try await withTemporaryFolder { folder in
            let kitchen = Host.loopback(folder + "/kitchen")
            try AirDropSender.write(to: folder + "/send.py")
            try await kitchen.withReceiver(Programs.waftd, ["--accept", "everyone"]) { daemon in
                let port = try await airDropPort(of: kitchen)
                let sent = try await kitchen.withProgram(folder + "/send.py", [String(port), "a.bin"]) { sender in
                    try await sender.transcript.says("/Ask 200")
                    #expect(try await kitchen.run(arguments: ["visible", "off"]).exit == 0)
                    try await sender.type("\n")
                    try await sender.transcript.says("closed")
                    try await sender.transcript.says("/Upload 200")
                }
                #expect(sent.exit == 0, "\(sent.text)")
                #expect(try daemon.names() == ["a.bin"])
            }
        }
    }

    @Test("shows no key, because none was proved: in no offer, list, event or call of a hook")
    func unproven() async throws {
        try await withTemporaryFolder { folder in
            var host = Host.loopback(folder + "/kitchen")
            let place = try host.useHook("#!/bin/sh\nenv | grep ^WAFT_ > facts.new\nmv facts.new facts\n", in: folder)
            try AirDropSender.write(to: folder + "/send.py")
            try await host.becomeVisible()
            let kitchen = host
            try await kitchen.withReceiver(Programs.waftd, []) { daemon in
                let port = try await airDropPort(of: kitchen)
                let sent = try await kitchen.withProgram(folder + "/send.py", [String(port), "a.bin"]) { sender in
                    var offers = try await kitchen.run(arguments: ["offers"])
                    while !offers.output.contains("1: ") { offers = try await kitchen.run(arguments: ["offers"]) }
                    #expect(offers.output.hasPrefix("1: stranger \"a Mac\" by AirDrop offers 1 item, 3 bytes;"))
                    let events = try await kitchen.run(arguments: ["offers", "--json"])
                    try Self.expectNoKey(events.output, in: "from")
                    let blocked = try await kitchen.run(arguments: ["decline", "1", "--block"])
                    #expect(blocked.exit == 64 && blocked.errors.contains("AirDrop proves no key"), "\(blocked.errors)")
                    #expect(try await kitchen.run(arguments: ["accept", "1"]).exit == 0)
                    try await sender.transcript.says("/Ask 200")
                    #expect(try await kitchen.run(arguments: ["visible", "off"]).exit == 0)
                    try await sender.type("\n")
                    try await sender.transcript.says("/Upload 200")
                }
                #expect(sent.exit == 0, "\(sent.text)")
                _ = try await daemon.log.first("opened")
                let facts = try String(contentsOfFile: place + "/facts", encoding: .utf8)
                #expect(facts.contains("WAFT_VIA=airdrop\n"))
                #expect(facts.contains("WAFT_SOURCE_APPLICATION=com.apple.finder\n"))
                #expect(!facts.contains("WAFT_PEER_ID"))
                for words in [["history", "--json"], ["inbox", "show", "1", "--json"]] {
                    try Self.expectNoKey(try await kitchen.run(arguments: words).output, in: "from")
                }
                let shown = try await kitchen.run(arguments: ["inbox", "show", "1"])
                #expect(shown.output.contains("stranger \"a Mac\" by AirDrop\n"))
            }
        }
    }

    private static func expectNoKey(_ json: String, in field: String) throws {
        for line in json.split(separator: "\n") {
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            let peer = try #require(object?[field] as? [String: Any], "\(line)")
            #expect(peer["name"] as? String == "a Mac" && peer["id"] == nil, "\(line)")
            #expect(object?["via"] as? String == "airdrop", "\(line)")
        }
    }

    /// Where the daemon of a host listens for AirDrop, as soon as it does.
    private func airDropPort(of host: Host) async throws -> Int {
        while true {
            let status = try await host.run(arguments: ["status", "--json"])
            let words = try #require(try Self.dialect("airdrop", of: status.output))
            if let port = words.split(separator: "port ").last.flatMap({ Int($0) }) { return port }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    private static func dialect(_ name: String, of json: String) throws -> String? {
        let object = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
        return (object?["dialects"] as? [String: Any])?[name] as? String
    }
}
