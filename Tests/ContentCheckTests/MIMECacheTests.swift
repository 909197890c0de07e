import Foundation
import TestSupport
import Testing
import UniformTypes

@testable import ContentCheck

@Suite("mime.cache")
struct MIMECacheTests {
    private typealias Rule = CacheBuilder.Rule
    private typealias Matchlet = CacheBuilder.Matchlet

    private static func cache(_ rules: Rule...) throws -> MIMECache {
        try #require(CacheBuilder(rules: rules).cache)
    }

    @Test("the rule of the highest priority is the one that counts, wherever it stands")
    func priority() throws {
        let low = Rule(priority: 40, mimeType: "a/low", matchlets: [Matchlet(value: Samples.bytes("AAAA"))])
        let high = Rule(priority: 60, mimeType: "a/high", matchlets: [Matchlet(value: Samples.bytes("AAAA"))])
        let other = Rule(priority: 90, mimeType: "a/other", matchlets: [Matchlet(value: Samples.bytes("BBBB"))])
        let cache = try Self.cache(low, high, other)
        #expect(cache.matches(Samples.bytes("AAAA")).map(\.mimeType) == ["a/high"])
        #expect(cache.matches(Samples.bytes("CCCC")).isEmpty)
        #expect(cache.matches([]).isEmpty)
        #expect(cache.typesWithMagic == ["a/other", "a/high", "a/low"])
    }

    @Test("a value is searched for in its range, and not one byte further")
    func range() throws {
        let cache = try Self.cache(
            Rule(priority: 50, mimeType: "a/b", matchlets: [Matchlet(start: 2, range: 3, value: Samples.bytes("XYZ!"))])
        )
        for offset in 0...8 {
            let head = [UInt8](repeating: 0x2E, count: offset) + Samples.bytes("XYZ!")
            #expect(cache.matches(head).isEmpty == !(2...4).contains(offset), "at \(offset)")
            #expect(cache.matches(Array(head.dropLast())).isEmpty)
        }
        #expect(cache.matches(Samples.bytes("...XYZ!")).first?.offset == 3)
        #expect(cache.matches(Samples.bytes("...XYZ!")).first?.isFixed == false)
    }

    @Test("a mask leaves bits out of the comparison")
    func mask() throws {
        let cache = try Self.cache(
            Rule(
                priority: 50, mimeType: "a/b",
                matchlets: [Matchlet(value: [0x40, 0x00, 0x41], mask: [0xF0, 0x00, 0xDF])]))
        #expect(!cache.matches([0x4F, 0x99, 0x61]).isEmpty)
        #expect(cache.matches([0x5F, 0x99, 0x61]).isEmpty)
        #expect(cache.matches([0x4F, 0x99, 0x42]).isEmpty)
        #expect(cache.matches([0x4F, 0x99, 0x61]).first?.strength == 11)
    }

    @Test("numbers in the machine's order are compared in it")
    func wordSizes() throws {
        let two = try Self.cache(
            Rule(priority: 50, mimeType: "a/b", matchlets: [Matchlet(wordSize: 2, value: [0x12, 0x34])]))
        let four = try Self.cache(
            Rule(priority: 50, mimeType: "a/b", matchlets: [Matchlet(wordSize: 4, value: [0x12, 0x34, 0x56, 0x78])]))
        let short = withUnsafeBytes(of: UInt16(0x1234)) { Array($0) }
        let long = withUnsafeBytes(of: UInt32(0x1234_5678)) { Array($0) }
        #expect(!two.matches(short).isEmpty)
        #expect(two.matches(Array(short.reversed())).isEmpty)
        #expect(!four.matches(long).isEmpty)
        #expect(four.matches(Array(long.reversed())).isEmpty)
    }

    @Test("a nested matchlet needs one of its children as well")
    func nesting() throws {
        let inner = [
            Matchlet(start: 4, value: Samples.bytes("two")), Matchlet(start: 4, value: Samples.bytes("three")),
        ]
        let cache = try Self.cache(
            Rule(
                priority: 50, mimeType: "a/b",
                matchlets: [
                    Matchlet(value: Samples.bytes("one "), children: inner), Matchlet(value: Samples.bytes("1")),
                ]))
        #expect(!cache.matches(Samples.bytes("one two")).isEmpty)
        #expect(!cache.matches(Samples.bytes("one three")).isEmpty)
        #expect(cache.matches(Samples.bytes("one four")).isEmpty)
        #expect(!cache.matches(Samples.bytes("1")).isEmpty)
        #expect(cache.matches(Samples.bytes("one two")).first?.strength == 24 + 8 + 24)
    }

    @Test("aliases and parents are found by name")
    func relations() throws {
        var builder = CacheBuilder()
        builder.aliases = ["a/old": "a/new", "b/old": "b/new", "c/old": "c/new"]
        builder.parents = ["a/x": ["a/y"], "a/y": ["a/z", "text/plain"], "q/r": ["q/r"]]
        let database = MagicDatabase(caches: [try #require(builder.cache)])
        #expect(database.unaliased("a/old") == "a/new")
        #expect(database.unaliased("c/old") == "c/new")
        #expect(database.unaliased("d/old") == "d/old")
        #expect(database.lineage(of: "a/x") == ["a/x", "a/y", "a/z", "text/plain"])
        // A type that is its own parent also ends the search.
        #expect(database.lineage(of: "q/r") == ["q/r"])
        #expect(database.isSubclass("a/x", of: "text/plain"))
        #expect(!database.isSubclass("text/plain", of: "a/x"))
    }

    @Test("of two databases the higher priority counts, and the user's where they are equal")
    func twoDatabases() throws {
        let value = [Matchlet(value: Samples.bytes("AAAA"))]
        let user = try Self.cache(Rule(priority: 50, mimeType: "a/user", matchlets: value))
        let machine = try Self.cache(Rule(priority: 50, mimeType: "a/machine", matchlets: value))
        let strong = try Self.cache(Rule(priority: 51, mimeType: "a/strong", matchlets: value))
        func first(_ caches: MIMECache...) -> String? {
            Samples.bytes("AAAA").withUnsafeBytes { MagicDatabase(caches: caches).matches($0).first?.mimeType }
        }
        #expect(first(user, machine) == "a/user")
        #expect(first(user, strong) == "a/strong")
        #expect(first(strong, user) == "a/strong")
        #expect(first() == nil)
    }

    @Test("of two rules of one priority the one for the more special type counts")
    func moreSpecialType() throws {
        let value = [Matchlet(value: Samples.bytes("AAAA"))]
        var builder = CacheBuilder()
        builder.parents = ["a/special": ["a/general"]]
        builder.rules = [
            Rule(priority: 50, mimeType: "a/general", matchlets: value),
            Rule(priority: 50, mimeType: "a/special", matchlets: value),
        ]
        let database = MagicDatabase(caches: [try #require(builder.cache)])
        let found = Samples.bytes("AAAA").withUnsafeBytes { database.matches($0).map(\.mimeType) }
        #expect(found == ["a/special", "a/general"])
    }

    @Test("the XDG variables say where databases are, in their order, and relative paths are ignored")
    func folders() throws {
        let folder = TemporaryFolder()
        let value = [Matchlet(value: Samples.bytes("AAAA"))]
        for name in ["home", "one", "two", ".local/share"] {
            let path = folder / "\(name)/mime"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            let bytes = CacheBuilder(rules: [Rule(priority: 50, mimeType: "a/\(name)", matchlets: value)]).bytes
            try Data(bytes).write(to: URL(fileURLWithPath: path + "/mime.cache"))
        }
        func found(_ variables: [String: String]) -> [String] {
            let database = MagicDatabase.installed { variables[$0] }
            return Samples.bytes("AAAA").withUnsafeBytes { database.matches($0).map(\.mimeType) }
        }
        let shared = "\(folder / "one"):relative::\(folder / "two"):\(folder / "missing")"
        #expect(found(["XDG_DATA_HOME": folder / "home", "XDG_DATA_DIRS": shared]) == ["a/home", "a/one", "a/two"])
        #expect(found(["HOME": folder.path, "XDG_DATA_DIRS": shared]) == ["a/.local/share", "a/one", "a/two"])
        #expect(found(["XDG_DATA_HOME": "relative", "XDG_DATA_DIRS": folder / "two"]) == ["a/two"])
        #expect(MagicDatabase.installed { ["XDG_DATA_DIRS": "/nowhere"][$0] }.isEmpty)
        // The default is the machine's database.
        #expect(!MagicDatabase.installed { _ in nil }.isEmpty)
    }

    @Test("a file that is no cache of a known version is ignored")
    func noCache() throws {
        let folder = TemporaryFolder()
        let good = CacheBuilder().bytes
        #expect(MIMECache(bytes: good) != nil)
        #expect(MIMECache(bytes: []) == nil)
        #expect(MIMECache(bytes: Array(good.prefix(39))) == nil)
        #expect(MIMECache(bytes: [0, 2] + good.dropFirst(2)) == nil)
        #expect(MIMECache(bytes: [0, 1, 0, 0] + good.dropFirst(4)) == nil)
        #expect(MIMECache(bytes: [0, 1, 0, 3] + good.dropFirst(4)) == nil)
        #expect(MIMECache(path: folder / "missing") == nil)
        #expect(MIMECache(path: folder.path) == nil)
        #expect(mkfifo(folder / "pipe", 0o600) == 0)
        #expect(MIMECache(path: folder / "pipe") == nil)
        folder.file("text", String(repeating: "text ", count: 100))
        #expect(MIMECache(path: folder / "text") == nil)
        let large = folder.file("large")
        #expect(truncate(large, 1 << 40) == 0)
        #expect(MIMECache(path: large) == nil)
    }

    @Test("the machine's database has the expected types")
    func machine() throws {
        let cache = try #require(
            MIMECache(path: "/usr/share/mime/mime.cache"), "the package shared-mime-info is missing")
        #expect(cache.typesWithMagic.count > 400)
        #expect(cache.matches(Samples.png).map(\.mimeType) == ["image/png"])
        #expect(cache.matches(Samples.pdf).map(\.mimeType) == ["application/pdf"])
        #expect(cache.matches(Samples.bytes("<html>")).map(\.mimeType) == ["text/html"])
        #expect(cache.unaliased("application/x-pdf") == "application/pdf")
        #expect(cache.parents(of: "image/svg+xml") == ["application/xml"])
    }
}
