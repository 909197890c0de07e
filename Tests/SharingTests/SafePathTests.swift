import Sharing
import TestSupport
import Testing

@Suite("Paths and their names")
struct SafePathTests {
    @Test("a path is safe exactly when each of its names is", arguments: 0..<200 as Range<UInt64>)
    func paths(seed: UInt64) {
        var dice = SeededNumbers(seed: seed)
        let pieces =
            ["a", "b", "/", "/", ".", "..", " ", "~", "\u{1F}", "\u{7F}", "é", "🍳", "\u{202E}", "\\", "-"]
            + ["\u{301}", "\u{200D}", "\u{FE0F}", "\u{1F3FD}", "\u{E31}"]
        for _ in 0..<200 {
            let text = (0..<Int.random(in: 0...9, using: &dice)).map { _ in pieces.randomElement(using: &dice) ?? "" }
                .joined()
            let names = text.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
            let areSafe = names.allSatisfy { (try? SafeName($0)) != nil }
            #expect(((try? SafeRelativePath(text)) != nil) == areSafe, "“\(text)”")
        }
    }

    @Test("depth and length are bounded in plain ASCII and beyond it", arguments: ["a", "ä"])
    func limits(letter: String) throws {
        let deepest = Array(repeating: letter, count: 128).joined(separator: "/")
        #expect(try SafeRelativePath(deepest).depth == 128)
        #expect(throws: NameError.tooDeep) { try SafeRelativePath(deepest + "/" + letter) }
        let name = String(repeating: letter, count: 255 / letter.utf8.count)
        _ = try SafeRelativePath(name + "/" + name)
        #expect(throws: NameError.tooLong) { try SafeRelativePath("x/" + name + letter + "a") }
        let longest = Array(repeating: String(repeating: "a", count: 127), count: 24).joined(separator: "/")
        #expect(longest.utf8.count == 3_071)
        _ = try SafeRelativePath(longest + "a")
        #expect(throws: NameError.tooDeep) { try SafeRelativePath(longest + "aa") }
    }
}

@Suite("Paths and their folders")
struct SafePathFolderTests {
    @Test(
        "a path is in the folder that is its parent, and in no other",
        arguments: ["a", "b", "ab", "a/b", "a/bc", "a/b/c", "ab/c", "a/b/c/d", "é/a", "e\u{301}/a", "é", "e\u{301}"]
            + SampleNames.joining.flatMap { [$0, "a/" + $0, $0 + "/b/" + $0] })
    func parents(text: String) throws {
        let path = try SafeRelativePath(text)
        #expect(path.lies(in: path.parent))
        for other in ["a", "b", "ab", "a/b", "a/bc", "é", "e\u{301}", text, text + "/x"] {
            let folder = try SafeRelativePath(other)
            #expect(path.lies(in: folder) == (path.parent == folder), "\(text) in \(other)")
        }
        #expect(path.lies(in: nil) == (path.parent == nil))
    }
}

@Suite("The Inbox of the tests")
struct MemoryInboxTests {
    @Test("it keeps the contract that the real one is held to")
    func contract() {
        let inbox = MemoryInbox()
        #expect(InboxContract(inbox, names: { inbox.names.sorted() }).violations() == [])
    }
}
