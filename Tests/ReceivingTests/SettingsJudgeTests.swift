import Foundation
import Settings
import TestSupport
import Testing

@testable import Receiving

@Suite("The judge of settings")
struct SettingsJudgeTests {
    private let folder = TemporaryFolder()

    private func faults(_ text: String) throws -> [SettingFault] {
        let home = try Home(environment: ["WAFT_HOME": folder / "home"])
        let file = ConfigurationText(path: home.configurationFile, text: text)
        return SettingsJudge(home).read(file, hostName: "kitchen").faults
    }

    @Test("settings without a fault have none")
    func none() throws {
        #expect(try faults("").isEmpty)
        #expect(try faults("hook: /bin/true\nhookWritable: [/var/tmp]\nport: 4001\n").isEmpty)
        // Waft takes any port if none is set.
        #expect(try faults("dialects: {localsend: {port: 9238}}\n").isEmpty)
        #expect(try faults("port: 4001\ndialects: {localsend: {port: 4001, enabled: false}}\n").isEmpty)
    }

    @Test(
        "what is missing lets a receiver start",
        arguments: [
            ("hook", "hook: /nowhere/x", "the hook /nowhere/x does not exist; items wait for it"),
            ("arbiter", "arbiter: /nowhere/x", "the arbiter /nowhere/x does not exist; people alone are asked"),
            ("outboxHook", "outboxHook: /etc", "the outbox hook /etc is not an executable file"),
            ("hookReadable", "hookReadable: [/nowhere/x]", "hookReadable: /nowhere/x does not exist"),
            ("hookWritable", "hookWritable: [/var/tmp, /nowhere/x]", "hookWritable: /nowhere/x does not exist"),
            (
                "dialects.airdrop.identity", "dialects: {airdrop: {identity: /nowhere/x}}",
                "the Apple identity is not used: cannot use /nowhere/x/key.pem: No such file or directory; AirDrop goes on"
            ),
            ("web.certificate", "web: {certificate: /nowhere/x}", "cannot use /nowhere/x: No such file or directory"),
        ])
    func missing(setting: String, line: String, words: String) throws {
        let faults = try faults("# one\n\(line)\n")
        #expect(faults.map(\.kind) == [.program])
        #expect(faults.first?.settings.first == setting && faults.first?.line == 2)
        #expect(faults.first?.words.hasPrefix(words) == true, "\(faults)")
    }

    @Test(
        "a radio backend that is there and of no use has a next step of its own, and one that is missing may come later"
    )
    func radio() throws {
        let there = try faults("dialects: {airdrop: {radio: /etc/passwd}}\n")
        #expect(there.map(\.hint) == ["as root: chmod +x /etc/passwd"] && there.map(\.kind) == [.program])
        let missing = try faults("dialects: {airdrop: {radio: /nowhere/x}}\n")
        #expect(missing.map(\.hint) == [nil] && missing.count == 1)
    }

    @Test(
        "a contradiction, an open door and text that cannot be read let none start",
        arguments: [
            ("port: 4001\ndialects: {localsend: {port: 4001}}\n", "each needs a port of its own"),
            ("port: 7443\nweb: {enabled: true}\n", "port and web.port are both 7443"),
            ("protection: complete\n", "make them first: waft protection set-up"),
            ("hookWritable: [/]\n", "hookWritable: / contains"),
            ("nmae: x\n", "did you mean name?"), ("a: [\n", "not YAML"),
        ])
    func contradictions(text: String, words: String) throws {
        let faults = try faults(text)
        #expect(faults.map(\.kind) == [.file])
        #expect(faults.first?.words.contains(words) == true && faults.first?.line != nil, "\(faults)")
    }

    @Test("all faults of both kinds are found at once, in the order of their lines")
    func all() throws {
        let faults = try faults("hook: /nowhere/x\nnmae: y\narbiter: /nowhere/z\n")
        #expect(faults.map(\.kind) == [.program, .file, .program] && faults.map(\.line) == [1, 2, 3])
    }
}
