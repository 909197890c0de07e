import Control
import Foundation
import Lines
import Settings
import TestSupport
import Testing

@testable import Operations

@Suite("What a user can do with settings")
struct SettingsFileTests {
    private let kitchen: Kitchen
    private var config: SettingsFile { kitchen.waft.config }
    private var path: String { kitchen.home.configurationFile }

    init() throws { kitchen = try Kitchen(jobs: 0) }

    private func write(_ text: String) throws { try text.write(toFile: path, atomically: true, encoding: .utf8) }
    private var text: String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }

    @Test("only the settings that are set are listed, and all on request")
    func list() throws {
        #expect(config.list(all: false) { "\($0.rule)" }.isEmpty)
        let all = config.list(all: true) { "\($0.rule)" }
        #expect(all.map(\.setting) == SettingKey.all.map(\.name))
        let name = try config.setting("name") { "\($0.rule)" }
        #expect(name.values == ["kitchen"] && name.value == "kitchen" && name.setBy == "default")
        #expect(throws: WaftError.self) { try config.setting("nonsense") { "\($0.rule)" } }
    }

    @Test("a setting is written and removed, and the change has the values of before")
    func change() async throws {
        let set = try await config.set("name", to: ["study"])
        #expect(set.line.values == ["study"] && set.line.inUse == nil && set.failure == nil)
        #expect(set.line.formerValue.isDefault && !set.line.value.isDefault)
        #expect(text.contains("name: study") && config.file.exists)
        let unset = try await config.unset("name")
        #expect(unset.line.formerValues == ["study"] && unset.line.value.isDefault && !unset.line.formerValue.isDefault)
        #expect(!text.contains("\nname: study"))
    }

    @Test(
        "a value that cannot be, or that no receiver could use, is refused, and nothing is written",
        arguments: [
            ("nonsense", ["x"], "nonsense"), ("name", [], "a value is missing"),
            ("policy", ["x"], "rules are more than a value"), ("port", ["many"], "port should be"),
            ("hook", ["/nowhere/hook"], "nothing was changed"),
        ])
    func refusals(name: String, values: [String], words: String) async throws {
        let config = config
        let error = await #expect(throws: WaftError.self) { try await config.set(name, to: values) }
        #expect(error?.code == .usage && error?.reason.contains(words) == true, "\(error?.reason ?? "")")
        #expect(!config.file.exists)
    }

    @Test("what is missing now is set on request")
    func anyway() async throws {
        let set = try await config.set("hook", to: ["/nowhere/hook"], anyway: true)
        #expect(set.failure == nil && text.contains("/nowhere/hook"))
    }

    @Test(
        "another fault of the file does not keep a setting from being written, and is the reason why it does not count")
    func otherFault() async throws {
        try write("port: many\n")
        let set = try await config.set("name", to: ["study"])
        #expect(text.contains("name: study") && set.line.warnings?.count == 1)
        #expect(set.failure?.code == .usage && set.failure?.hint == "correct it: waft config edit")
    }

    @Test("a file that cannot be read is not changed")
    func unreadable() async throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let config = config
        await #expect(throws: WaftError.self) { try await config.set("name", to: ["study"]) }
    }

    @Test("the running receiver says whether it uses a change, and which of its own settings hide it")
    func receiver() async throws {
        let config = config
        let notRunning = await #expect(throws: WaftError.self) { try await config.reload() }
        #expect(notRunning?.code == .notRunning)
        let answers = Recorder<SettingsLine>()
        let answer = { @Sendable (_: ControlRequest) in ControlReply.settings(answers.all.last ?? SettingsLine()) }
        try await kitchen.withReceiver(answer) {
            var set = try await config.set("name", to: ["a"])
            #expect(set.line.inUse == true && set.failure == nil)
            answers.record(SettingsLine(overridden: ["name"]))
            set = try await config.set("name", to: ["b"])
            #expect(set.line.inUse == false && set.line.hiddenBy == "the receiver's start" && set.failure == nil)
            answers.record(SettingsLine(faults: ["line 1: wrong", "line 2: wrong too"]))
            set = try await config.set("name", to: ["c"])
            #expect(set.line.inUse == false && set.line.fault == "line 1: wrong; line 2: wrong too")
            #expect(set.failure?.reason.hasSuffix("the receiver does not use it: \(set.line.fault ?? "")") == true)
            let reload = try await config.reload()
            #expect(!reload.ok && reload.faults == ["line 1: wrong", "line 2: wrong too"])
        }
    }

    @Test("another answer of the receiver is that of an older one")
    func older() async throws {
        let config = config
        try await kitchen.withReceiver { _ in
            .done
        } _: {
            let error = await #expect(throws: WaftError.self) { try await config.reload() }
            #expect(error?.hint == "restart it")
        }
    }

    @Test("a file is checked: one fault in a line, several in a line each, and a missing one only if it was named")
    func check() throws {
        let missing = try config.check(nil)
        #expect(!missing.file.exists && missing.failure == nil)
        let error = #expect(throws: WaftError.self) { try config.check("/nowhere/file") }
        #expect(error?.code == .inputMissing)
        try write("name: study\n")
        let good = try config.check(nil)
        #expect(good.file.exists && good.faults.isEmpty && good.failure == nil)
        try write("name: study\nport: many\nhook: /nowhere/hook\n")
        let bad = try config.check(path)
        #expect(bad.faults.map(\.line) == [2, 3] && bad.faults.map(\.receiverStarts) == [false, true])
        #expect(bad.failure?.reason == path && bad.failure?.others.count == 2)
        try write(String(repeating: "nonsense: 1\n", count: 1) + (1...60).map { "a\($0): 1\n" }.joined())
        #expect(try config.check(nil).failure?.others.last == "and 11 more")
    }

    @Test("an edited copy replaces the file, and one that is the same does not")
    func edit() async throws {
        let config = config
        let same = try await config.edit(anyway: false) { _ in
        } again: { _ in
            nil
        }
        #expect(!same.isChanged && !config.file.exists)
        let new = try await config.edit(anyway: false) { copy throws(WaftError) in
            _ = try? "name: study\n".write(toFile: copy, atomically: true, encoding: .utf8)
        } again: { _ in
            nil
        }
        #expect(new.isChanged && new.reload == nil && text == "name: study\n")
    }

    @Test("a copy with faults is edited again if the user wants it, and otherwise replaces nothing")
    func editAgain() async throws {
        let config = config
        for (answer, words) in [(false, "config.yaml is as it was"), (nil, "should be")] as [(Bool?, String)] {
            let error = await #expect(throws: WaftError.self) {
                try await config.edit(anyway: false) { copy throws(WaftError) in
                    _ = try? "port: many\n".write(toFile: copy, atomically: true, encoding: .utf8)
                } again: { _ in
                    answer
                }
            }
            #expect(error?.code == .usage && error?.reason.contains(words) == true, "\(error?.reason ?? "")")
            #expect(error?.hint?.contains("your text is in ") == true && !config.file.exists)
        }
        var texts = ["port: 1\n", "port: many\n"]
        let edited = try await config.edit(anyway: false) { copy throws(WaftError) in
            _ = try? texts.removeLast().write(toFile: copy, atomically: true, encoding: .utf8)
        } again: { fault in
            fault.code == .usage
        }
        #expect(edited.isChanged && text == "port: 1\n")
    }

    @Test("an editor that fails, or a file that changes meanwhile, keeps the file as it is")
    func editFailures() async throws {
        let (config, path) = (config, path)
        await #expect(throws: WaftError(.unexpected, "no editor")) {
            try await config.edit(anyway: false) { _ throws(WaftError) in
                throw WaftError(.unexpected, "no editor")
            } again: { _ in
                nil
            }
        }
        let error = await #expect(throws: WaftError.self) {
            try await config.edit(anyway: false) { copy throws(WaftError) in
                _ = try? "name: study\n".write(toFile: copy, atomically: true, encoding: .utf8)
                _ = try? "name: other\n".write(toFile: path, atomically: true, encoding: .utf8)
            } again: { _ in
                nil
            }
        }
        #expect(error?.reason == "config.yaml has been changed meanwhile, and is not replaced")
        #expect(text == "name: other\n")
    }
}
