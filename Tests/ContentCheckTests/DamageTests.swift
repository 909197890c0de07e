import Foundation
import Testing
import UniformTypes

@testable import ContentCheck

/// These tests check only that there is a result, and that it comes soon; any result is allowed.
@Suite("Damaged and hostile input")
struct DamageTests {
    private static let samples: [(String, [UInt8])] = [
        ("a.png", Samples.png), ("a.jpg", Samples.jpeg), ("a.gif", Samples.gif), ("a.pdf", Samples.pdf),
        ("a.tiff", Samples.tiff), ("a.bmp", Samples.bitmap), ("a.webp", Samples.webP), ("a.flac", Samples.flac),
        ("a.mp3", Samples.mp3), ("a.gz", Samples.gzip), ("a.bz2", Samples.bzip2), ("a.7z", Samples.sevenZip),
        ("a.tar", Samples.tar), ("a.deb", Samples.debian), ("a.mkv", Samples.matroska), ("a.ogg", Samples.vorbis),
        ("a.heic", Samples.isoMedia("mif1", "mif1", "heic")), ("a.doc", Samples.compoundFile()),
        ("a.zip", Samples.plainZip), ("a.docx", Samples.docx), ("a.odt", Samples.odt), ("a.epub", Samples.epub),
        ("a.jar", Samples.jar), ("a.apk", Samples.apk), ("a.sqlite", Samples.sqlite), ("a.dll", Samples.windows),
        ("a.class", Samples.javaClass), ("a.wasm", Samples.webAssembly), ("a.sh", Samples.shellScript),
        ("a.dylib", Samples.universalMachO),
    ]

    @Test("content that breaks off anywhere is called no liar under its own name", arguments: samples)
    func truncation(name: String, bytes: [UInt8]) {
        let declared = TypeRegistry.system.type(forFileName: name, kind: .regularFile)
        for count in 0...bytes.count {
            // Headers end before byte 96, and later bytes change little. The database is slow, so it checks a sample.
            for knowledge in count <= 96 || count.isMultiple(of: 16) ? Knowledge.allCases : [.builtIn] {
                let verdict = knowledge.checker.check(bytes: Array(bytes.prefix(count)), declared: declared)
                #expect(verdict.outcome != .lying, "\(name), \(count) bytes: \(verdict.explanation)")
                #expect(verdict.outcome != .mislabelled, "\(name), \(count) bytes: \(verdict.explanation)")
            }
        }
    }

    @Test("one byte, whichever it is, has a verdict under every name")
    func oneByte() {
        for byte in UInt8.min...UInt8.max {
            for name in ["a.png", "a.txt", "a.docx", "a.unknown", "a", "a.exe", "a.dmg"] {
                for knowledge in Knowledge.allCases {
                    #expect(knowledge.checker.check(bytes: [byte], declaredName: name).outcome != .lying)
                }
            }
        }
    }

    @Test("random bytes, alone and in good files, have verdicts", arguments: 0..<4)
    func randomBytes(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            var (name, bytes) = Self.samples.randomElement(using: &generator) ?? ("a", [])
            if Bool.random(using: &generator) { name = Self.samples.randomElement(using: &generator)?.0 ?? name }
            if Int.random(in: 0..<4, using: &generator) == 0 {
                bytes = (0..<Int.random(in: 0..<2048, using: &generator)).map { _ in
                    .random(in: 0...255, using: &generator)
                }
            }
            for _ in 0..<Int.random(in: 0..<24, using: &generator) where !bytes.isEmpty {
                let position = Int.random(in: 0..<bytes.count, using: &generator)
                bytes[position] =
                    [0, 0xFF, 0x7F, .random(in: 0...255, using: &generator)].randomElement(using: &generator) ?? 0
            }
            for knowledge in Knowledge.allCases {
                let checker = knowledge.checker
                let verdict = checker.check(bytes: bytes, declaredName: name)
                #expect(!verdict.explanation.isEmpty && !verdict.explanation.contains("\n"))
                #expect(!checker.content(bytes: bytes).words(types: .system).isEmpty)
            }
        }
    }

    @Test("all lengths and offsets in a zip archive may be wrong", arguments: 0..<4)
    func damagedZip(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let extremes: [[UInt8]] = [
            [0xFF, 0xFF, 0xFF, 0xFF], [0, 0, 0, 0], [0xFF, 0xFF, 0xFF, 0x7F], [0, 0, 0, 0x80], [1, 0, 0, 0],
        ]
        for _ in 0..<800 {
            var bytes = [Samples.docx, Samples.odt, Samples.jar, Self.large].randomElement(using: &generator) ?? []
            for _ in 0...Int.random(in: 0..<3, using: &generator) {
                let position = Int.random(in: 0..<bytes.count - 4, using: &generator)
                bytes.replaceSubrange(position..<position + 4, with: extremes.randomElement(using: &generator) ?? [])
            }
            _ = Knowledge.builtIn.checker.check(bytes: bytes, declaredName: "a.docx")
        }
    }

    /// A directory that is found through the records for archives above 4 GiB.
    static let large: [UInt8] = {
        let small = Samples.docx
        let end = Array(small.suffix(22))
        let directory = (size: Array(end[12..<16]), offset: Array(end[16..<20]))
        let zeros: [UInt8] = [0, 0, 0, 0]
        let body = Array(small.dropLast(22))
        let record =
            Samples.bytes("PK\u{6}\u{6}") + [UInt8](repeating: 0, count: 36) + directory.size + zeros + directory.offset
            + zeros
        let locator = Samples.bytes("PK\u{6}\u{7}") + zeros + Samples.word(body.count) + zeros + [1, 0, 0, 0]
        return body + record + locator + Array(end[..<12]) + [UInt8](repeating: 0xFF, count: 8) + [0, 0]
    }()

    @Test("the directory of a large archive is found through its own records")
    func largeZip() {
        Case("a.docx", Self.large, .consistent, "org.openxmlformats.wordprocessingml.document").expect(with: .builtIn)
    }

    @Test("a directory that is longer than the checker reads leaves the contents open")
    func longDirectory() {
        let many = (0..<5_000).map { ("notes/\($0).txt", "") }
        Case("a.docx", Samples.zip(many), .unverified).expect(with: .builtIn)
        // The entries that were read before the limit count.
        Case("a.docx", Samples.zip([("[Content_Types].xml", ""), ("word/document.xml", "")] + many), .consistent)
            .expect(with: .builtIn)
    }

    private static func heads() -> [[UInt8]] {
        [
            Samples.png, Samples.tar, Samples.docx, Samples.bytes("<html><a href='b'>text</a></html>"),
            Samples.padded([0, 0, 1]),
        ]
    }

    @Test("a cache that is damaged anywhere is searched to an end", arguments: 0..<8)
    func damagedCache(seed: UInt64) throws {
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "/usr/share/mime/mime.cache")))
        var generator = SeededGenerator(seed: seed)
        let extremes: [UInt32] = [
            0, 1, 0xFFFF_FFFF, 0x7FFF_FFFF, 0x8000_0000, UInt32(bytes.count), UInt32(bytes.count) - 4,
        ]
        for _ in 0..<12 {
            var damaged = bytes
            for _ in 0..<Int.random(in: 1...400, using: &generator) {
                // Half of the changes are in the list of rules, because most of the reading is there.
                let range = Bool.random(using: &generator) ? 85_112..<140_984 : 4..<bytes.count - 4
                let position = Int.random(in: range, using: &generator) & ~3
                let value =
                    Bool.random(using: &generator)
                    ? extremes.randomElement(using: &generator) ?? 0
                    : UInt32.random(in: 0...UInt32(bytes.count), using: &generator)
                damaged.replaceSubrange(
                    position..<position + 4, with: withUnsafeBytes(of: value.bigEndian) { Array($0) })
            }
            if Int.random(in: 0..<4, using: &generator) == 0 {
                damaged.removeLast(Int.random(in: 0..<damaged.count - 40, using: &generator))
            }
            let cache = try #require(MIMECache(bytes: damaged))
            let checker = ContentChecker(database: MagicDatabase(caches: [cache]))
            for head in Self.heads() { _ = checker.check(bytes: head, declaredName: "a.png") }
        }
    }

    @Test("a cache whose rules lead in circles, or search without end, is searched to an end")
    func circularCache() throws {
        var builder = CacheBuilder()
        let wide = CacheBuilder.Matchlet(range: 0x7FFF_FFFF, value: [0])
        builder.rules = (0..<200).map { number in
            CacheBuilder.Rule(
                priority: 50, mimeType: "a/\(number)",
                matchlets: [CacheBuilder.Matchlet](repeating: wide, count: 20))
        }
        var bytes = builder.bytes
        // Every matchlet has all matchlets of its rule as children, including itself.
        let view = bytes
        let rules = view.withUnsafeBytes { view -> [(first: Int, count: Int)] in
            let view = CacheView(bytes: view)
            guard let (list, count) = view.list(.magic), let first = view.word(at: list + 4) else { return [] }
            return (0..<count).compactMap { index in
                guard let matchlets = view.word(at: first + 16 * index + 12),
                    let number = view.word(at: first + 16 * index + 8)
                else { return nil }
                return (matchlets, number)
            }
        }
        #expect(rules.count == 200)
        for rule in rules {
            for index in 0..<rule.count {
                let matchlet = rule.first + 32 * index
                let words = [rule.count, rule.first].flatMap { withUnsafeBytes(of: UInt32($0).bigEndian) { Array($0) } }
                bytes.replaceSubrange(matchlet + 24..<matchlet + 32, with: words)
            }
        }
        let cache = try #require(MIMECache(bytes: bytes))
        #expect(cache.matches([UInt8](repeating: 0, count: 65_536)).isEmpty)
        #expect(cache.matches([UInt8](repeating: 1, count: 65_536)).isEmpty)
    }
}
