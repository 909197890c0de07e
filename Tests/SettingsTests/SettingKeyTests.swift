import Foundation
import TestSupport
import Testing

@testable import Settings

@Suite("Settings: one row each")
struct SettingKeyTests {
    /// Reads lines of `config.yaml` below the given settings.
    private func settings(_ text: String) throws -> Settings {
        let folder = TemporaryFolder()
        var settings = Settings(hostName: "host")
        try settings.read(file: folder.file("config.yaml", text), dialects: .samples)
        return settings
    }

    /// The lines of the template that are settings, without their comment marks.
    private var examples: String {
        // A comment has one space or more than two.
        ConfigurationTemplate.text.matches(of: /(?m)^#((?:  )?[^ \n].*)$/).map { $0.output.1 }.joined(separator: "\n")
    }

    @Test("the names, variables and options are unique")
    func unique() {
        for words in [
            SettingKey.all.map(\.name), SettingKey.all.compactMap(\.variable), SettingKey.all.compactMap(\.flag),
        ] {
            #expect(Set(words).count == words.count)
        }
    }

    @Test("a summary is a sentence without its full stop")
    func summaries() {
        for key in SettingKey.all {
            #expect(key.summary.first?.isUppercase == true && key.summary.last != ".", "\(key.name)")
            #expect(key.detail?.last != "." && key.note?.first != " ", "\(key.name)")
        }
    }

    @Test("the template sets nothing, and without its comment marks it sets every setting")
    func template() throws {
        #expect(try settings(ConfigurationTemplate.text).places.isEmpty)
        let read = try settings(examples)
        #expect(Set(read.places.keys) == Set(SettingKey.all.map(\.name)))
        #expect(read.name == "kitchen")
        for key in SettingKey.all {
            if let variable = key.variable {
                #expect(ConfigurationTemplate.text.contains("(\(variable)"), "\(variable)")
            }
        }
        #expect(ConfigurationTemplate.text.split(separator: "\n").allSatisfy { $0.count <= 120 })
    }

    @Test("the template shows the default of each setting, where it has no example")
    func defaults() throws {
        let (standard, read) = (Settings(hostName: "host"), try settings(examples))
        for key in SettingKey.all where key.example == nil {
            #expect(key.text(of: standard) != nil, "\(key.name) needs an example")
            #expect(key.text(of: read) == key.text(of: standard), "\(key.name)")
        }
    }

    @Test("the text of a value is read as the same value, and its words are those that are accepted")
    func texts() throws {
        for key in SettingKey.all where key.kind != .rules {
            var texts = key.text(of: Settings(hostName: "host")).map { [$0] } ?? []
            if case .words(let words) = key.kind { texts += words }
            if key.kind == .truth { texts += ["true", "false"] }
            for text in texts {
                let line = key.name.split(separator: ".").reversed().reduce(text) { "{\($1): \($0)}" }
                #expect(try key.text(of: settings(line)) == text, "\(line)")
            }
        }
    }

    @Test("the article on settings lists every setting with its default and its meaning")
    func article() throws {
        let text = try CodeBlock.text(of: UserDocument.article("FoldersAndSettings"))
        let table = try #require(text.components(separatedBy: "| setting | default | meaning |").last)
        let rows = table.matches(of: /(?m)^\| `([A-Za-z.]+)` \| (.+) \| (.+) \|$/).map { $0.output.0 }
        let standard = Settings(hostName: "")
        let expected = SettingKey.all.map { key in
            let value = key.otherwise ?? key.text(of: standard).map { "`\($0)`" } ?? "none"
            return "| `\(key.name)` | \(value) | \(key.summary) |"
        }
        #expect(rows.map(String.init) == expected)
    }
}
