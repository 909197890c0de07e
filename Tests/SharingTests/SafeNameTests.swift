import Sharing
import TestSupport
import Testing

@Suite("A safe name")
struct SafeNameTests {
    private func refusal(_ text: String) -> NameError? {
        do {
            _ = try SafeName(text)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "is valid on a Linux file system and printable in a terminal",
        arguments: [
            "a", ".hidden", "...", "..a", "-rf", "a b", " ", "$(id)", "`id`", "a\\b", "C:", "con", "NUL", "*?<>|\"",
            "%00",
            "%2e%2e%2f", "é", "e\u{301}", "日本語", "👨‍👩‍👧", "नि", "مرحبا", "~", "a\u{AD}b", String(repeating: "x", count: 255),
            String(repeating: "é", count: 127),
        ] + SampleNames.joining
    )
    func taken(text: String) throws {
        #expect(try SafeName(text).text.utf8.elementsEqual(text.utf8))
    }

    @Test("is not empty, no dots, no more than 255 bytes, and has no slash")
    func refused() {
        #expect(refusal("") == .empty)
        #expect(refusal(".") == .dots)
        #expect(refusal("..") == .dots)
        #expect(refusal("/") == .separator)
        #expect(refusal("a/b") == .separator)
        #expect(refusal("../x") == .separator)
        #expect(refusal(String(repeating: "x", count: 256)) == .tooLong)
        #expect(refusal(String(repeating: "é", count: 128)) == .tooLong)
        #expect(refusal(String(repeating: "x", count: 300)) == .tooLong)
    }

    @Test("has nothing in it that ends lines, moves cursors, or turns the direction of text")
    func unprintable() {
        let ranges: [ClosedRange<UInt32>] = [
            0x00...0x1F, 0x7F...0x9F, 0x061C...0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069,
            0xFEFF...0xFEFF,
            0xFFF9...0xFFFB,
        ]
        for scalar in ranges.joined().compactMap(Unicode.Scalar.init) {
            #expect(refusal("a\(scalar)b") == .unprintable)
            #expect(refusal(String(scalar)) == .unprintable)
        }
    }

    @Test("is refused for a slash or a control character even where it hides behind a combining mark")
    func combining() {
        #expect(refusal("a/\u{301}b") == .separator)
        #expect(refusal("a\u{0}\u{301}b") == .unprintable)
        #expect(refusal("a\r\nb") == .unprintable)
    }

    @Test(
        "is numbered before its extension",
        arguments: [
            ("a", "a-1"), ("a.txt", "a-1.txt"), ("a.tar.gz", "a-1.tar.gz"), (".tar.gz", ".tar-1.gz"),
            (".bashrc", ".bashrc-1"), ("a.", "a-1."), ("a.b.c", "a.b-1.c"), ("...", "..-1."),
            ("a." + String(repeating: "x", count: 40), "a." + String(repeating: "x", count: 40) + "-1"),
            (String(repeating: "x", count: 255), String(repeating: "x", count: 253) + "-1"),
        ]
    )
    func numbered(text: String, expected: String) throws {
        #expect(try SafeName(text).numbered(1).text == expected)
    }

    @Test("stays safe and fits when it is numbered, whatever the number")
    func numberedFits() throws {
        let names = [
            String(repeating: "x", count: 251) + ".txt", String(repeating: "é", count: 127),
            "a" + String(repeating: "\u{301}", count: 127), String(repeating: "👨‍👩‍👧", count: 13) + ".jpeg", "..a", "a..",
        ]
        for name in names {
            for number in [1, 9, 10, 65_536, Int.max] {
                let numbered = try SafeName(name).numbered(number)
                #expect(try SafeName(numbered.text) == numbered)
                #expect(numbered.text.contains("-\(number)"))
            }
        }
    }
}

@Suite("A safe relative path")
struct SafeRelativePathTests {
    private func refusal(_ text: String) -> NameError? {
        do {
            _ = try SafeRelativePath(text)
            return nil
        } catch {
            return error
        }
    }

    @Test("is one or more safe names", arguments: ["a", "a/b", ".a/..b/...", "a b/c", "日本/語"])
    func taken(text: String) throws {
        #expect(try SafeRelativePath(text).text == text)
    }

    @Test("is not absolute, not upwards, and has no empty name in it")
    func refused() {
        #expect(refusal("") == .empty)
        #expect(refusal("/") == .absolute)
        #expect(refusal("/a") == .absolute)
        #expect(refusal("//a") == .absolute)
        #expect(refusal("a/") == .empty)
        #expect(refusal("a//b") == .empty)
        #expect(refusal("..") == .dots)
        #expect(refusal("../a") == .dots)
        #expect(refusal("a/../b") == .dots)
        #expect(refusal("a/./b") == .dots)
        #expect(refusal("a/b/..") == .dots)
        #expect(refusal("a/\u{0}") == .unprintable)
        #expect(refusal("a/" + String(repeating: "x", count: 256)) == .tooLong)
    }

    @Test("has at most 128 names and 3,072 bytes")
    func limits() throws {
        let deepest = Array(repeating: "d", count: 128).joined(separator: "/")
        #expect(try SafeRelativePath(deepest).depth == 128)
        #expect(refusal(deepest + "/d") == .tooDeep)
        #expect(throws: NameError.tooDeep) { try SafeRelativePath(deepest).appending(SafeName("d")) }
        let longest = Array(repeating: String(repeating: "x", count: 255), count: 12).joined(separator: "/")
        #expect(longest.utf8.count == 3_071)
        #expect(refusal(longest) == nil)
        #expect(refusal(longest + "/a") == .tooDeep)
        #expect(throws: NameError.tooDeep) { try SafeRelativePath(longest).appending(SafeName("a")) }
    }

    @Test("knows its last name, its folder and its depth")
    func parts() throws {
        let path = try SafeRelativePath("a/b").appending(SafeName("c.txt"))
        #expect(path.text == "a/b/c.txt")
        #expect(path.name == "c.txt")
        #expect(path.depth == 3)
        #expect(path.parent?.text == "a/b")
        #expect(path.parent?.parent?.text == "a")
        #expect(path.parent?.parent?.parent == nil)
        #expect(try SafeRelativePath(SafeName("a")).text == "a")
    }
}

@Suite("A safe link target")
struct SafeLinkTargetTests {
    private func refusal(_ target: String, at link: String) throws -> NameError? {
        let path = try SafeRelativePath(link)
        do {
            _ = try SafeLinkTarget(target, of: path)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "stays in its tree",
        arguments: [
            ("a", "b"), ("a", "."), ("a", "./b"), ("a", "b/c/d"), ("a/b", ".."), ("a/b", "../c"), ("a/b/c", "../../d"),
            ("a", "a"), ("a", "b//c"), ("a", "b/"),
        ]
    )
    func taken(link: String, target: String) throws {
        #expect(try refusal(target, at: link) == nil)
    }

    @Test(
        "that leaves its tree is refused",
        arguments: [
            ("a", ".."), ("a", "../a"), ("a/b", "../.."), ("a/b", "../../c"), ("a", "./../x"),
            ("a", "b/.."), ("a", "b/../../c"), ("a/b/c", "../x/../../y"),
        ]
    )
    func leaves(link: String, target: String) throws {
        #expect(try refusal(target, at: link) == .leavesTree)
    }

    @Test("that is absolute, empty, too long or not fit to be shown is refused")
    func refused() throws {
        #expect(try refusal("", at: "a") == .empty)
        #expect(try refusal("/etc/passwd", at: "a") == .absolute)
        #expect(try refusal("/", at: "a") == .absolute)
        #expect(try refusal("a\u{0}b", at: "a") == .unprintable)
        #expect(try refusal("a\u{1B}[2J", at: "a") == .unprintable)
        #expect(try refusal(String(repeating: "x", count: 256), at: "a") == .tooLong)
        #expect(try refusal(String(repeating: "a/", count: 1_537), at: "a") == .tooDeep)
    }
}

@Suite("Names as bytes")
struct NameBytesTests {
    @Test("names that look alike and differ in bytes are two names")
    func bytes() throws {
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        #expect(composed == decomposed, "as strings they are equal")
        #expect(try SafeName(composed) != SafeName(decomposed))
        #expect(Set([try SafeName(composed), try SafeName(decomposed)]).count == 2)
        #expect(try SafeRelativePath("a/" + composed) != SafeRelativePath("a/" + decomposed))
    }

    @Test(
        "a name that is made to fit shows where it differs, and a safe one is left alone",
        arguments: [
            ("plain.txt", "plain.txt"), ("Icon\r", "Icon%0D"), ("a/b", "a%2Fb"), (".", "%2E"), ("..", "%2E%2E"),
            ("\u{200E}note.opus", "%E2%80%8Enote.opus"), ("x\0y", "x%00y"),
        ])
    func fitting(_ text: String, _ expected: String) {
        #expect(SafeName(fitting: text).text == expected)
    }

    @Test(
        "a long name that is made to fit keeps its beginning and extension, and differs from others with that beginning"
    )
    func fittingLong() {
        let names = [
            String(repeating: "x", count: 1_000_000) + "1.tar.gz",
            String(repeating: "x", count: 1_000_000) + "2.tar.gz",
        ].map { SafeName(fitting: $0).text }
        #expect(names[0] != names[1])
        for name in names {
            #expect(name.utf8.count == 255 && name.hasPrefix("xxx") && name.hasSuffix(".tar.gz"))
            #expect((try? SafeName(name)) != nil)
        }
        let family = SafeName(fitting: String(repeating: "👨‍👩‍👧", count: 100)).text
        #expect(family.utf8.count <= 255 && family.first == "👨‍👩‍👧")
    }
}
