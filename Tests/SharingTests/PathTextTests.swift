import Sharing
import TestSupport
import Testing

@Suite("Paths by their bytes")
struct PathTextTests {
    @Test("a slash is one whatever comes after it", arguments: SampleNames.joining)
    func slashes(name: String) throws {
        let path = "/a/\(name)/\(name)"
        #expect(PathText.isAbsolute("/" + name) && PathText.isAbsolute(path) && !PathText.isAbsolute(name))
        #expect(PathText.names(in: path).map { Array($0.utf8) } == ["a", name, name].map { Array($0.utf8) })
        #expect(PathText.lastName(of: path + "//").utf8.elementsEqual(name.utf8))
        #expect(PathText.part(of: path, below: "/a").map { Array($0.utf8) } == Array("\(name)/\(name)".utf8))
        #expect(PathText.part(of: "/" + name, below: "/").map { Array($0.utf8) } == Array(name.utf8))
        #expect(PathText.part(of: "/a" + name, below: "/a") == nil)
        #expect(PathText.joined("/", name).utf8.count == name.utf8.count + 1)
        let below = try SafeRelativePath("a/\(name)/\(name)")
        #expect(below.depth == 3)
        #expect(below.name.utf8.elementsEqual(name.utf8))
        #expect(below.isBelow(try SafeRelativePath("a/\(name)")) && !below.isBelow(below))
        #expect(try SafeLinkTarget("../\(name)", of: below).text.utf8.count == name.utf8.count + 3)
        #expect(try SafeName(name).numbered(1) != SafeName(name))
    }

    @Test("nothing and slashes alone have no last name", arguments: ["", "/", "//"])
    func noName(path: String) {
        #expect(PathText.lastName(of: path) == "")
        #expect(PathText.names(in: path).isEmpty)
        #expect(PathText.part(of: path, below: "/") == nil || path == "//")
    }

    @Test("a refusal shows the name with all invisible characters, and only its beginning if it is long")
    func refusals() {
        #expect(
            NameError.unprintable.said(of: "\u{301}a/\u{1F3FD}b\u{1B}e\u{301}")
                == "\"\\u{301}a/\\u{1F3FD}b\\u{1B}e\u{301}\": \(NameError.unprintable)")
        let long = NameError.tooLong.said(of: String(repeating: "x", count: 1_000_000))
        #expect(long.hasPrefix("\"xxx") && long.hasSuffix("…\": \(NameError.tooLong)") && long.count < 200)
    }

    @Test("a secret before the @ of a URL is no part of its name, whatever follows the @")
    func secrets() throws {
        #expect(try InternetShortcut("https://me:secret@\u{301}example.com/").name.text.contains("secret") == false)
    }
}
