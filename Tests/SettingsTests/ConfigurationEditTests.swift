import Foundation
import TestSupport
import Testing

@testable import Settings

@Suite("Changes of config.yaml")
struct ConfigurationEditTests {
    private func edit(_ name: String, _ text: String) throws -> ConfigurationEdit {
        try ConfigurationEdit(SettingKey.named(name), in: ConfigurationText(path: "config.yaml", text: text))
    }

    @Test(
        "a value is exchanged, and every other byte stays",
        arguments: [
            ("accept", "name: a # me\naccept: ask   # all\n", "name: a # me\naccept: none   # all\n"),
            ("accept", "# é\naccept:\nport: 7", "# é\naccept: none\nport: 7"),
            ("accept", "accept: 'ask'\r\nport: 7\r\n", "accept: none\r\nport: 7\r\n"),
            ("accept", "{port: 7}", "{accept: none, port: 7}"),
            ("accept", "port: 7", "port: 7\naccept: none\n"),
            ("accept", "", "accept: none\n"),
            ("accept", "#name: x\n#accept: ask\n\n# more\n", "#name: x\n#accept: ask\naccept: none\n\n# more\n"),
        ])
    func scalar(name: String, before: String, after: String) throws {
        #expect(try edit(name, before).setting(["none"]).text == after)
    }

    @Test("a list gets its values in brackets, and a value that YAML would read otherwise gets quotes")
    func list() throws {
        let text = "hookWritable:\n- /a\n- /b\nport: 7\n"
        #expect(
            try edit("hookWritable", text).setting(["/c", "/d e", "/f, g"]).text
                == "hookWritable: [/c, /d e, \"/f, g\"]\nport: 7\n")
        #expect(try edit("name", "name: [a\n]\n").setting(["a: \"b\"\n"]).text == "name: \"a: \\\"b\\\"\\u000a\"\n")
    }

    @Test("a nested setting is written into its mapping, which is made if it is missing")
    func nested() throws {
        let name = "dialects.airdrop.enabled"
        for (before, after) in [
            ("port: 7\n", "port: 7\ndialects: {airdrop: {enabled: false}}\n"),
            ("dialects:\n  airdrop:\n    flags: 139\n", "dialects:\n  airdrop:\n    enabled: false\n    flags: 139\n"),
            ("dialects:\n  airdrop: {flags: 139}\n", "dialects:\n  airdrop: {enabled: false, flags: 139}\n"),
            ("dialects:\n  airdrop: {enabled: true}\n", "dialects:\n  airdrop: {enabled: false}\n"),
        ] {
            #expect(try edit(name, before).setting(["false"]).text == after)
        }
    }

    @Test("a setting is removed with its lines, and nothing else is")
    func removed() throws {
        #expect(try edit("port", "name: a\nport: 7 # x\naccept: ask\n").unsetting().text == "name: a\naccept: ask\n")
        #expect(try edit("port", "name: a\n").unsetting().text == "name: a\n")
        #expect(try edit("port", "{name: a, port: 7}").unsetting().text == "{name: a}")
        #expect(try edit("hookWritable", "hookWritable:\n- /a\n- /b\nport: 7\n").unsetting().text == "port: 7\n")
    }

    @Test("where the change is not safe, there is none")
    func unsafe() {
        for text in ["name: &a x\nhook: *a\n", "name: |\n  x\n", "name: a\nname: b\n"] {
            #expect(throws: ConfigurationEdit.Failure.self, "\(text)") { try edit("name", text).setting(["y"]) }
        }
        let list = "hookWritable:\n# mine\n- /a\n# yours\n- /b\n"
        #expect(throws: ConfigurationEdit.Failure.self) { try edit("hookWritable", list).setting(["/c"]) }
    }

    @Test("a file is replaced whole, keeps its mode and the link to it, and remains of a killed process go")
    func written() throws {
        let folder = TemporaryFolder()
        let target = folder.file("target.yaml", "name: a\n")
        chmod(target, 0o640)
        _ = folder.file(".target.yaml.123", "half")
        symlink("target.yaml", folder / "config.yaml")
        try ConfigurationWriting.change(folder / "config.yaml") { file in
            ConfigurationText(path: file.path, text: file.text + "port: 7\n")
        }
        var status = stat()
        #expect(stat(target, &status) == 0 && status.st_mode & 0o7777 == 0o640)
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "name: a\nport: 7\n")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["config.yaml", "target.yaml"])
        symlink("config.yaml", folder / "second")
        #expect(throws: ConfigurationWriting.Failure.self) { try ConfigurationWriting.change(folder / "second") { $0 } }
    }

    @Test("the schema has every setting, each word with its meaning")
    func schema() {
        let text = SettingsSchema().text
        for key in SettingKey.all {
            for word in key.name.split(separator: ".") { #expect(text.contains("\"\(word)\" : {"), "\(word)") }
            #expect(text.contains(key.summary), "\(key.name)")
            if case .words(let words) = key.kind { #expect(key.meanings.map(\.word) == words, "\(key.name)") }
        }
    }
}
