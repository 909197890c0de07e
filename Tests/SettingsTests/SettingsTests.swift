import AirDropDialect
import Foundation
import HandlerCatalog
import Inbox
import Logging
import Sharing
import TestSupport
import Testing

@testable import Settings

@Suite("Settings")
struct SettingsTests {
    private func file(_ text: String) throws -> Settings {
        let path = "/tmp/waft-\(UInt64.random(in: 0...(.max))).yaml"
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        var settings = Settings(hostName: "host")
        try settings.read(file: path, dialects: .samples)
        return settings
    }

    @discardableResult
    private func environment(_ variables: [String: String]) throws -> Settings {
        var settings = Settings(hostName: "host")
        try settings.read(environment: variables)
        return settings
    }

    @Test("flags come before the environment, that before the file, that before the defaults")
    func order() throws {
        var settings = try file("name: file\nport: 8\naccept: none\n")
        try settings.read(environment: ["WAFT_NAME": "variable", "WAFT_PORT": "7"])
        settings.set(\.name, to: "flag")
        #expect(settings.name == "flag")
        #expect(settings.port == 7)
        #expect(settings.accept == .none)
        #expect(settings.discovery)
        #expect(
            settings.places.mapValues { $0.contains(", line 3") ? "line 3" : $0 } == [
                "name": "--name", "port": "WAFT_PORT", "accept": "line 3",
            ])
        #expect(Settings(hostName: "host").name == "host")
        #expect(Settings(hostName: "").name == "unnamed")
        #expect(Settings(hostName: "host").accept == .ask, "the default is safe")
    }

    @Test("the settings for AirDrop are read, and impossible ones are reported with their line")
    func airdrop() throws {
        let settings = try file("dialects:\n  airdrop: {enabled: false, flags: 0x88, modelName: Kettle}\n")
        #expect(settings.airdrop.isEnabled == false)
        #expect(settings.airdrop.flags.rawValue == 0x88)
        #expect(settings.airdrop.modelName == "Kettle")
        for (text, choice) in [
            ("auto", RadioChoice.auto), ("off", .off), ("/usr/lib/x/helper", .helper("/usr/lib/x/helper")),
        ] {
            #expect(try file("dialects:\n  airdrop: {radio: \(text)}\n").airdrop.radio == choice)
        }
        #expect(try file("dialects:\n  airdrop:\n").airdrop == AirDropSettings())
        #expect(try file("dialects:\n").airdrop == AirDropSettings())
        for text in [
            "airdrop: {enabled: maybe}", "airdrop: {flags: -1}", "airdrop: {flags: 4}", "airdrop: {modelName: ''}",
            "airdrop: {colour: red}", "airdrop: {radio: bin/helper}", "airdrop: {radio: ''}", "airdrop: yes",
            "bump: {}",
        ] {
            let error = #expect(throws: Settings.InvalidError.self) { try file("name: x\ndialects:\n  \(text)\n") }
            #expect(error?.description.contains("line 3") == true, "\(error?.description ?? "")")
        }
    }

    @Test("sizes and shares are read as people write them, and have defaults")
    func room() throws {
        for (text, reserve) in [
            ("2 GB", .bytes(2_000_000_000)), ("64 MiB", .bytes(64 << 20)), ("0", .bytes(0)), ("5%", .percent(5)),
            ("100 %", .percent(100)),
        ] as [(String, DiskReserve)] {
            #expect(try environment(["WAFT_RESERVE": text]).reserve == reserve)
        }
        for text in ["%", "101 %", "-1", "5 % %", "much", "1e3%"] {
            #expect(throws: Settings.InvalidError.self, "\(text)") {
                try environment(["WAFT_RESERVE": text])
            }
        }
        for (variable, text) in [("WAFT_STRANGER_QUOTA", "all"), ("WAFT_CONFLICT", "replace")] {
            #expect(throws: Settings.InvalidError.self) { try environment([variable: text]) }
        }
        let settings = Settings(hostName: "host")
        #expect(settings.reserve == .standard)
        #expect(settings.strangerQuota == 10 << 30)
        #expect(settings.conflict == .keepBoth)
    }

    @Test("a file of every setting is read")
    func everything() throws {
        let settings = try file(
            """
            name: kitchen
            port: 4001
            accept: everyone
            hook: /bin/true
            hookTimeout: 5
            hookWritable: [/home/me/Pictures]
            hookSandbox: none
            eligibility: handlers
            openReceivedURLs: [https, Notes]
            sandbox: require
            discovery: false
            skipInterfaces: [docker*, wg0]
            reserve: 3 %
            strangerQuota: 0
            conflict: skip
            partialLifetime: 12h
            partialQuota: 0
            logLevel: debug
            """)
        #expect(settings.name == "kitchen")
        #expect(settings.port == 4_001)
        #expect(settings.accept == .everyone)
        #expect(settings.reserve == .percent(3))
        #expect(settings.strangerQuota == 0)
        #expect(settings.conflict == .skip)
        #expect(settings.partials.lifetime == .seconds(43_200))
        #expect(settings.partials.quota == 0)
        #expect(settings.hook == "/bin/true")
        #expect(settings.hookTimeout == .seconds(5))
        #expect(settings.hookWritable == ["/home/me/Pictures"])
        #expect(settings.hookIsSandboxed == false)
        #expect(settings.eligibility == .handlers)
        #expect(settings.openReceivedURLs.map(\.text) == ["https", "notes"])
        #expect(settings.requiresSandbox == true)
        #expect(settings.discovery == false)
        #expect(settings.skipInterfaces == ["docker*", "wg0"])
        #expect(settings.logLevel == .debug)
    }

    @Test("a missing file says nothing")
    func missing() throws {
        var settings = Settings(hostName: "host")
        try settings.read(file: "/nowhere/config.yaml", dialects: .samples)
        #expect(settings.places.isEmpty)
    }

    @Test(
        "an impossible setting is refused with its line",
        arguments: [
            ("port: 0", "line 1"), ("hook: ''", "the path of an executable"), ("\nport: 65536", "line 2"),
            ("port: [1, 2]", "line 1"), ("name: {a: b}", "line 1"),
            ("nmae: x", "unknown setting \"nmae\""), ("- a\n- b", "should be a list of"), ("a: 'b", "not YAML"),
            ("name: a/b", "line 1"), ("hookTimeout: 0", "seconds"),
            ("accept: maybe", "ask, contacts, everyone or none"),
            ("1: 2", "unknown"),
            ("hookWritable: [Pictures]", "absolute"), ("hookSandbox: maybe", "strict or none"),
            ("eligibility: some", "everything or handlers"), ("sandbox: none", "prefer or require"),
            ("openReceivedURLs: [file]", "http, https"), ("openReceivedURLs: ['x y']", "http, https"),
            ("dialects.airdrop.enabled: true", "unknown"), ("discovery: perhaps", "true or false"),
            ("skipInterfaces: ['']", "list"),
        ])
    func unusable(text: String, complaint: String) throws {
        let error = #expect(throws: Settings.InvalidError.self) { try file(text) }
        #expect(error?.description.contains(complaint) == true, "\(error?.description ?? "")")
        #expect(error?.description.contains("\n") == false, "one line")
    }

    @Test("deeply nested and huge files are refused, not followed")
    func hostile() throws {
        #expect(throws: Settings.InvalidError.self) { try file(String(repeating: "#", count: (1 << 20) + 1)) }
        #expect(throws: Settings.InvalidError.self) { try file("a: " + String(repeating: "[", count: 5_000)) }
        #expect(throws: Settings.InvalidError.self) { try file(String(repeating: "- ", count: 500_000)) }
    }

    @Test("all faults of a file are reported, each with its line, and keys that stand twice with both lines")
    func faults() throws {
        let text = """
            name: kitchen
            nmae: x
            port: 0
            'name': study
            accept: contcats
            dialects:
              airdrop: {enabled: true, enabled: maybe, colour: red}
            policy:
            - {then: maybe}
            - {than: ask}
            name: cellar

            """
        let error = try #require(throws: Settings.InvalidError.self) { try file(text) }
        #expect(
            error.faults.map(\.text) == [
                "line 2: unknown setting \"nmae\"; did you mean name?",
                "line 3: port should be a port number, 1 to 65535, and is \"0\"",
                "line 4: name stands here again; line 1 has it already",
                "line 5: accept should be ask, contacts, everyone or none, and is \"contcats\"; did you mean contacts?",
                "line 7: dialects.airdrop.enabled stands here again; line 7 has it already",
                "line 7: unknown setting \"colour\" in dialects.airdrop; there are: enabled, flags, modelName, identity, radio",
                "line 9: rule 1: then: \"maybe\" is not accept, ask or decline",
                "line 10: rule 2 has \"than\", which no rule can have; there are: "
                    + "from, type, name, sizeAtMost, sizeAtLeast, sizePerDay, time, days, then, handler, folder, protect",
                "line 11: name stands here again; line 1 has it already",
            ])
        #expect(!error.description.contains("\n"))
    }

    @Test("keys that stand very often, bytes that are no UTF-8 and other files than regular ones are refused")
    func limits() throws {
        let many = String(repeating: "name: x\n", count: 1_000)
        let error = try #require(throws: Settings.InvalidError.self) { try file(many) }
        #expect(error.faults.count == 1 && error.description.contains("a key stands twice in a mapping"))
        let folder = TemporaryFolder()
        let path = folder / "config.yaml"
        try Data([0x6E, 0xFF, 0x0A]).write(to: URL(fileURLWithPath: path))
        for (place, complaint) in [(path, "is not UTF-8 text"), ("/dev/zero", "is not a regular file")] {
            var settings = Settings(hostName: "host")
            let error = #expect(throws: Settings.InvalidError.self) {
                try settings.read(file: place, dialects: .samples)
            }
            #expect(error?.description == "\(place) \(complaint)")
        }
    }

    @Test("inside a hook WAFT_NAME is the item's name, and not ours")
    func insideHook() throws {
        let settings = try environment(["WAFT_NAME": "report.pdf", "WAFT_TRANSFER": "0", "WAFT_PORT": "7"])
        #expect(settings.name == "host")
        #expect(settings.port == 7)
    }
}
