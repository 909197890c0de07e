import Settings
import Testing

@testable import Desk

@Suite("The words of the pages")
struct DeskWordsTests {
    /// The lines of a language: key, text, and another text for an amount of 1.
    private static func lines(_ language: String) throws -> [[String]] {
        let bytes = try #require(DeskPage.file(language + ".txt")).bytes
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map {
            $0.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
        }
    }

    /// The names that a text has places for.
    private static func places(_ text: String) -> Set<String> {
        Set(text.matches(of: /\{(\w+)\}/).map { String($0.1) })
    }

    @Test("each language has the same keys, each once, with a text that takes the same values")
    func lines() throws {
        let (english, german) = (try Self.lines("en"), try Self.lines("de"))
        #expect(english.map(\.first) == german.map(\.first))
        #expect(Set(english.map(\.first)).count == english.count)
        for (one, other) in zip(english, german) {
            let texts = one.dropFirst() + other.dropFirst()
            #expect([2, 3].contains(one.count) && one.count == other.count, "\(one)")
            #expect(texts.allSatisfy { !$0.isEmpty }, "\(one)")
            #expect(Self.places(one[1]) == Self.places(other[1]), "\(one)")
        }
    }

    @Test("each setting has its name, its choices and its default in words for people, in both languages")
    func settings() throws {
        let keys = Set(try Self.lines("en").map { $0[0] })
        for key in SettingKey.all {
            var needed = ["set-\(key.name)"] + key.meanings.map { "set-\(key.name)=\($0.word)" }
            if let otherwise = key.otherwise, otherwise != "none" { needed.append("set-\(key.name)-standard") }
            for one in needed { #expect(keys.contains(one), "no language has the line \(one)") }
        }
        // None is about a setting that is gone.
        let names = Set(SettingKey.all.map(\.name))
        for key in keys where key.hasPrefix("set-") {
            let name = key.dropFirst(4).prefix { $0 != "=" }.replacing(/-(help|standard)$/, with: "")
            #expect(names.contains(String(name)), "\(key) is about no setting")
        }
    }
}
