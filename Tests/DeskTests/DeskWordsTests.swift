import Settings
import Testing

@testable import Desk

@Suite("The words of the pages")
struct DeskWordsTests {
    /// The texts of each key: English, German, and both for an amount of 1; one text is for both languages.
    private static func table() throws -> [String: [String]] {
        let bytes = try #require(DeskPage.file("words.txt")).bytes
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        return try Dictionary(
            lines.map { line in
                let parts = line.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
                return (try #require(parts.first), Array(parts.dropFirst()))
            }, uniquingKeysWith: { first, _ in first })
    }

    @Test("each line has a key of its own, and a text for each language")
    func lines() throws {
        let bytes = try #require(DeskPage.file("words.txt")).bytes
        let keys = String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap {
            $0.split(separator: "|").first
        }
        let table = try Self.table()
        #expect(Dictionary(grouping: keys, by: \.self).filter { $1.count > 1 }.keys.isEmpty)
        for (key, texts) in table {
            #expect([1, 2, 4].contains(texts.count) && texts.allSatisfy { !$0.isEmpty }, "\(key)")
        }
    }

    @Test("each setting has its name, its choices and its default in words for people, in both languages")
    func settings() throws {
        let table = try Self.table()
        for key in SettingKey.all {
            var needed = ["set-\(key.name)"] + key.meanings.map { "set-\(key.name)=\($0.word)" }
            if let otherwise = key.otherwise, otherwise != "none" { needed.append("set-\(key.name)-standard") }
            for one in needed { #expect(table[one] != nil, "words.txt has no line \(one)") }
        }
        // None is about a setting that is gone.
        let names = Set(SettingKey.all.map(\.name))
        for key in table.keys where key.hasPrefix("set-") {
            let name = key.dropFirst(4).prefix { $0 != "=" }.replacing(/-(help|standard)$/, with: "")
            #expect(names.contains(String(name)), "\(key) is about no setting")
        }
    }
}
