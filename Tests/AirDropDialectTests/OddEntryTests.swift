import NIOCore
import Sharing
import TestSupport
import Testing
import UniformTypes

@testable import AirDropDialect

private let wideName = String(repeating: "字", count: 200)

@Suite("An odd entry that a Mac sends", .timeLimit(.minutes(2)))
struct OddEntryTests {
    private static func archive(_ build: (inout HandMadeArchive) -> Void) -> ByteBuffer {
        var archive = HandMadeArchive()
        build(&archive)
        return ByteBuffer(bytes: archive.whole)
    }

    /// Sends the folder `d` with a good file and the entries that `build` adds.
    /// - Returns: the stored entries except the folder itself, and the remarks.
    private func send(_ build: (inout HandMadeArchive) -> Void) async throws -> ([String: [UInt8]], [EntryRemark]) {
        let body = Self.archive { archive in
            archive.folder("./d")
            archive.add("./d/good", [1])
            build(&archive)
        }
        let stored = Recorder<[String: [UInt8]]>()
        let remarks = Recorder<EntryRemark>()
        try await AirDropLoopback.run(remarks: remarks) { receiver in
            let answers = try await receiver.send(ask: HandMadeAsk.folder("d"), pieces: [body])
            let fault = try await receiver.end()
            #expect(answers.upload == 200, "\(fault?.message ?? "")")
            let entries = try #require(receiver.inbox["d"]?.entries)
            stored.record(entries.filter { !$0.key.isEmpty }.mapValues { $0.bytes ?? [] })
        }
        return (try #require(stored.all.first), remarks.all)
    }

    @Test("that only Finder knows is passed over like a sidecar, in silence")
    func finderFiles() async throws {
        let (stored, remarks) = try await send { archive in
            archive.add("./Icon\r", [9])
            archive.add("./d/Icon\r", [9])
            archive.add("./d/.DS_Store", [9])
            archive.folder("./d/inner")
            archive.add("./d/inner/.DS_Store", [9])
        }
        #expect(Set(stored.keys) == ["good", "inner"])
        #expect(remarks.isEmpty)
    }

    @Test("a link out of the folder costs only itself, and a line names it", arguments: ["../x", "/etc/passwd"])
    func linkOut(_ target: String) async throws {
        let (stored, remarks) = try await send { $0.link("./d/l", to: target) }
        #expect(Set(stored.keys) == ["good"])
        #expect(remarks.count == 1)
        #expect(remarks.first?.entry == "d/l")
        #expect(remarks.first?.reason.hasPrefix("left out: ") == true)
        #expect(remarks.first?.reason.hasSuffix("(to \(target))") == true)
    }

    @Test(
        "that is neither file, folder nor link costs only itself", arguments: [0o020666, 0o060666, 0o010666, 0o140666])
    func special(_ mode: Int) async throws {
        let (stored, remarks) = try await send { $0.add("./d/x", [], mode: mode) }
        #expect(Set(stored.keys) == ["good"])
        #expect(remarks.first == EntryRemark(entry: "d/x", reason: "left out: it is neither file, folder nor link"))
    }

    @Test(
        "has a name here that can be stored, and a line says which",
        arguments: [
            ("x\u{7}y", "x%07y"), ("x\ny", "x%0Ay"), ("gpj.\u{202E}exe", "gpj.%E2%80%AEexe"), ("x\u{85}y", "x%C2%85y"),
        ])
    func renamed(_ name: String, _ expected: String) async throws {
        let (stored, remarks) = try await send { archive in
            archive.add("./d/\(name)", [2])
            archive.folder("./d/in \(name)")
            archive.add("./d/in \(name)/plain", [3])
        }
        #expect(stored[expected] == [2])
        #expect(stored["in \(expected)/plain"] == [3])
        #expect(remarks.map(\.reason) == ["stored as \(expected)", "stored as in \(expected)"])
    }

    @Test("with a longer name than a disk here takes keeps its beginning and its extension")
    func longName() async throws {
        let (stored, _) = try await send { archive in
            archive.add("./d/\(wideName)1.jpg", [2])
            archive.add("./d/\(wideName)2.jpg", [3])
        }
        let long = stored.keys.filter { $0.hasPrefix("字字字") }
        #expect(long.count == 2)
        #expect(long.allSatisfy { $0.hasSuffix(".jpg") && $0.utf8.count <= 255 && $0.utf8.count > 240 })
    }

    @Test("deeper than folders can lie here costs only itself")
    func tooDeep() async throws {
        let (stored, remarks) = try await send { archive in
            archive.add("./d" + String(repeating: "/n", count: 200), [2])
            archive.add("./d/" + String(repeating: "0123456789/", count: 400) + "x", [2])
        }
        #expect(Set(stored.keys) == ["good"])
        #expect(remarks.count == 2)
    }

    @Test("many odd entries are reported in a few lines")
    func many() async throws {
        let (_, remarks) = try await send { archive in
            for number in 0..<100 { archive.link("./d/l\(number)", to: "/") }
        }
        #expect(remarks.count == 21)
        #expect(remarks.last == EntryRemark(entry: "80 more", reason: "left out or renamed"))
    }

    @Test(
        "the user is asked about an offer that has only an odd entry",
        arguments: ["x\ny.txt", wideName + ".txt", "\u{202E}x.txt"])
    func question(_ name: String) async throws {
        try await AirDropLoopback.run { receiver in
            let body = Self.archive { $0.add("./\(name)", [1]) }
            let answers = try await receiver.send(ask: HandMadeAsk.files(name), pieces: [body])
            #expect(answers.ask == 200 && answers.upload == 200)
            let stored = try #require(receiver.inbox.names.first)
            #expect(stored == SafeName(fitting: name).text)
            #expect(receiver.consent.asked.all.first?.offer.items.first?.type.identifier == "public.plain-text")
        }
    }

    @Test("of the same name as another gets a number, from one folder of the archive and from two")
    func sameName() async throws {
        for places in [["a", "a"], ["x/a", "y/a"], ["a", "x/a"], ["\u{E9}", "e\u{301}"]] {
            try await AirDropLoopback.run { receiver in
                let files = places.map { HandMadeAsk.File(name: String($0.split(separator: "/").last ?? ""), path: $0) }
                let body = Self.archive { archive in
                    archive.folder("./x")
                    for (number, place) in places.enumerated() { archive.add("./\(place)", [UInt8(number)]) }
                }
                let isAround = places.contains { $0.contains("x/") }
                let answers = try await receiver.send(
                    ask: HandMadeAsk(files: files).encoded,
                    pieces: [
                        isAround
                            ? body
                            : Self.archive { archive in
                                for (number, place) in places.enumerated() {
                                    archive.add("./\(place)", [UInt8(number)])
                                }
                            }
                    ])
                let fault = try await receiver.end()
                #expect(answers.upload == 200, "\(places) \(fault?.message ?? "")")
                #expect(receiver.inbox.names.count == 2)
                #expect(Set(receiver.inbox.stored.compactMap(\.bytes)) == [[0], [1]])
            }
        }
    }

    @Test("whose announced size was that of the original may be larger, if it is a picture or a film")
    func converted() async throws {
        for (name, type, expected) in [
            ("a.jpg", "public.jpeg", 200), ("a.mov", "com.apple.quicktime-movie", 200), ("a.bin", "public.data", 400),
        ] {
            try await AirDropLoopback.run { receiver in
                let ask = HandMadeAsk(files: [HandMadeAsk.File(name: name, type: type, size: 2)]).encoded
                let answers = try await receiver.send(
                    ask: ask, pieces: [Self.archive { $0.add("./\(name)", [1, 2, 3]) }])
                #expect(answers.upload == expected)
                let item = try #require(receiver.consent.asked.all.first?.offer.items.first)
                #expect(item.size == (expected == 200 ? nil : 2))
                #expect(item.sizeHint == (expected == 200 ? 2 : nil))
            }
        }
    }
}
