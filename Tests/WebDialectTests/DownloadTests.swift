import Foundation
import HTTPChannel
import NIOCore
import NIOHTTP1
import Sharing
import Synchronization
import TestSupport
import Testing

@testable import WebDialect

@Suite("Downloads of guests", .timeLimit(.minutes(1)))
struct DownloadTests {
    static let time = Timestamp(seconds: 1_777_629_600, nanoseconds: 0)
    static let file = MemorySource.file("pläne \"1\".txt", Array("0123456789".utf8), modified: time)
    static let tree = MemorySource.tree(
        "Reise ✈",
        [
            .file("tür.txt", Array("hello".utf8), modified: time), .file("run", Array("#!".utf8), executable: true),
            .folder("leer", [], modified: time), .folder("sub", [.file("x", [])]), .link("l", to: "run"),
        ])

    static func run(_ items: [any ItemSource], _ body: @Sendable (WebLoopback, WebGuest) async throws -> Void)
        async throws
    {
        try await WebLoopback.run(.accept, WebSession(pin: "123456", isPlain: true, items: items)) {
            page async throws in
            try await body(page, try await page.enter())
        }
    }

    @Test("a file comes whole, with its length, its name and a tag")
    func whole() async throws {
        try await Self.run([Self.file]) { _, guest async throws in
            let answer = try await guest.get("/d/1/x")
            #expect(answer.text == "0123456789")
            #expect(answer.headers["accept-ranges"] == ["bytes"])
            #expect(answer.headers["last-modified"] == ["Fri, 01 May 2026 10:00:00 GMT"])
            #expect(
                answer.headers.first(name: "content-disposition")
                    == "attachment; filename=\"pläne _1_.txt\"; filename*=UTF-8''pl%C3%A4ne%20%221%22.txt")
            #expect(answer.headers.first(name: "etag")?.hasPrefix("\"") == true)
            let head = try await guest.send(.HEAD, "/d/1/x")
            #expect(head.code == 200)
            #expect(head.headers["content-length"] == ["10"])
            #expect(head.body.readableBytes == 0)
            #expect(try await guest.get("/").text.contains("href=\"d/1/pl%C3%A4ne%20%221%22.txt\""))
        }
    }

    @Test(
        "a part of a file comes with 206",
        arguments: [
            ("bytes=0-3", "0123", 206), ("bytes=4-", "456789", 206), ("bytes=-2", "89", 206), ("bytes=8-99", "89", 206),
            ("bytes=0-1,3-4", "0123456789", 200), ("bytes=3-1", "0123456789", 200), ("lines=1-2", "0123456789", 200),
            ("bytes=-99", "0123456789", 206), ("bytes=--1", "0123456789", 200),
        ])
    func range(_ range: String, _ text: String, _ status: Int) async throws {
        try await Self.run([Self.file]) { _, guest async throws in
            let answer = try await guest.get("/d/1/x", ["range": range])
            #expect(answer.code == status)
            #expect(answer.text == text)
        }
    }

    @Test("a part beyond the end is refused with 416", arguments: ["bytes=10-", "bytes=99-100", "bytes=-0"])
    func unsatisfiable(_ range: String) async throws {
        try await Self.run([Self.file]) { _, guest async throws in
            let answer = try await guest.get("/d/1/x", ["range": range])
            #expect(answer.code == 416)
            #expect(answer.headers["content-range"] == ["bytes */10"])
        }
    }

    @Test("a part of another state of the file comes whole")
    func ifRange() async throws {
        try await Self.run([Self.file]) { _, guest async throws in
            let tag = try #require(try await guest.get("/d/1/x").headers.first(name: "etag"))
            #expect(try await guest.get("/d/1/x", ["range": "bytes=1-1", "if-range": tag]).text == "1")
            #expect(try await guest.get("/d/1/x", ["range": "bytes=1-1", "if-range": "\"other\""]).code == 200)
            let date = "Fri, 01 May 2026 10:00:00 GMT"
            #expect(try await guest.get("/d/1/x", ["range": "bytes=1-1", "if-range": date]).code == 206)
        }
    }

    @Test(
        "the conditions of a request are kept",
        arguments: [
            ("if-none-match", "TAG", 304), ("if-none-match", "\"x\", W/TAG", 304), ("if-none-match", "*", 304),
            ("if-none-match", "\"x\"", 200), ("if-match", "TAG", 200), ("if-match", "\"nope\"", 412),
            ("if-match", "W/TAG", 412), ("if-modified-since", "Fri, 01 May 2026 10:00:00 GMT", 304),
            ("if-modified-since", "Friday, 01-May-26 09:59:59 GMT", 200),
            ("if-modified-since", "Fri May  1 10:00:01 2026", 304), ("if-modified-since", "yesterday", 200),
            ("if-unmodified-since", "Fri, 01 May 2026 09:59:59 GMT", 412),
            ("if-unmodified-since", "Fri, 01 May 2026 10:00:00 GMT", 200),
        ])
    func conditions(_ name: String, _ value: String, _ code: Int) async throws {
        try await Self.run([Self.file]) { _, guest async throws in
            let tag = try #require(try await guest.get("/d/1/x").headers.first(name: "etag"))
            let answer = try await guest.get("/d/1/x", [name: value.replacing("TAG", with: tag), "range": "bytes=0-3"])
            #expect(answer.code == (code == 200 ? 206 : code))
            #expect(answer.headers["etag"] == [tag])
            if code == 304 { #expect(answer.body.readableBytes == 0) }
        }
    }

    @Test("a range is for GET only")
    func headWithRange() async throws {
        try await Self.run([Self.file]) { _, guest async throws in
            let head = try await guest.send(.HEAD, "/d/1/x", ["range": "bytes=0-3"])
            #expect((head.code, head.headers["content-length"]) == (200, ["10"]))
        }
    }

    @Test(
        "items that do not exist are not found",
        arguments: ["/d/0/x", "/d/2/x", "/d/-1/x", "/d/99999999999999999999/x", "/d/a"])
    func unknown(_ path: String) async throws {
        try await Self.run([Self.file]) { _, guest async throws in #expect(try await guest.get(path).code == 404) }
        try await Self.run([]) { _, guest async throws in
            #expect(try await guest.get("/all.zip").code == 404)
            #expect(try await guest.get("/d/1/x").code == 404)
        }
    }

    @Test("a file that changes while it is read never looks whole", arguments: ["/d/1/a", "/d/2/t.zip", "/all.zip"])
    func changes(_ path: String) async throws {
        let large = [UInt8](repeating: 7, count: 2_000_000)
        let items: [any ItemSource] = [
            MemorySource.file("a", large, fault: .after(1_900_000)),
            ChangingSource([.tree("t", [.file("b", large)]), .tree("t", [.file("b", large), .file("c", [])])]),
        ]
        try await Self.run(items) { page, guest async throws in
            let text = try await RawGuest.run(page.port) { raw in
                try await raw.write(guest.request("GET", path))
                return try await raw.readToEnd()
            }
            let head = text.firstRange(of: "\r\n\r\n").map { text[..<$0.upperBound] } ?? ""
            let length = try #require(head.firstMatch(of: /content-length: (\d+)/).flatMap { Int($0.1) })
            #expect(length > 1_900_000)
            #expect(text.utf8.count - head.utf8.count < length)
        }
    }

    @Test(
        "a folder comes as a ZIP of the announced length, which other programs read", arguments: ["/d/1/x", "/all.zip"])
    func zip(_ path: String) async throws {
        let items: [any ItemSource] =
            path == "/all.zip" ? [Self.tree, Self.file, Self.file, MemorySource.text("hello")] : [Self.tree]
        try await Self.run(items) { _, guest async throws in
            let answer = try await guest.get(path)
            #expect(answer.headers["content-type"] == ["application/zip"])
            #expect(answer.headers["content-length"] == ["\(answer.body.readableBytes)"])
            let folder = TemporaryFolder()
            try Data(answer.body.readableBytesView).write(to: URL(filePath: folder / "a.zip"))
            let listing = try Self.python(Self.checkZIP, folder / "a.zip")
            #expect(listing.contains("Reise ✈/tür.txt 5 100644 2026-05-01"))
            #expect(listing.contains("Reise ✈/run 2 100755"))
            #expect(listing.contains("Reise ✈/leer/ 0 40755"))
            #expect(listing.contains("Reise ✈/l 3 120777"))
            #expect(listing.hasSuffix("good\n"))
            if path == "/all.zip" {
                #expect(listing.contains("pläne \"1\".txt 10") && listing.contains("text.txt 5"))
            }
        }
    }

    @Test("times before 1970 and after 2038 stay whole in a ZIP, to 100 ns")
    func farTimes() async throws {
        let times = [-147_355_200, 2_535_105_600, 5_690_664_000].map { Timestamp(seconds: $0, nanoseconds: 1_500) }
        let nodes = times.enumerated().map { MemorySource.Node.file("\($0)", [], modified: $1) }
        try await Self.run([MemorySource.tree("t", nodes)]) { _, guest async throws in
            let answer = try await guest.get("/all.zip")
            #expect(answer.headers["content-length"] == ["\(answer.body.readableBytes)"])
            let folder = TemporaryFolder()
            try Data(answer.body.readableBytesView).write(to: URL(filePath: folder / "a.zip"))
            let listing = try Self.python(Self.farTimesInZIP, folder / "a.zip")
            #expect(listing == times.map { "\($0.seconds) 1500\n" }.joined())
        }
    }

    /// Reads the times as NTFS has them, and compares those of DOS, which end with 2107.
    private static let farTimesInZIP = """
        import sys, zipfile, struct
        z = zipfile.ZipFile(sys.argv[1])
        for i, year in zip(z.infolist()[1:], (1980, 2050, 2107)):
            assert i.date_time[0] == year and z.testzip() is None
            kind, size, _, tag, length, units = struct.unpack('<HHIHHQ', i.extra[:20])
            assert (kind, size, tag, length, len(i.extra)) == (10, 32, 1, 24, 36)
            print(units // 10**7 - 11644473600, units % 10**7 * 100)
        """

    @Test("a ZIP of many files, and of one that has several blocks, has its announced length")
    func manyFiles() throws {
        let large = [UInt8](repeating: 9, count: 200_000)
        let nodes = (0..<300).map { MemorySource.Node.file("f\($0)", [1]) } + [.file("large", large)]
        let shared = SharedItems([MemorySource.tree("t", nodes)])
        let plan = try ZipPlan(shared.all, MemoryBudget().claim(isContact: true))
        let body = ZipBody(plan)
        var count: UInt64 = 0
        while let piece = try body.next() { count += UInt64(piece.readableBytes) }
        #expect(count == plan.length)
    }

    @Test("an address has a share of the downloads, and those that nobody reads end with their connections")
    func places() async throws {
        let large = MemorySource.file("large", [UInt8](repeating: 7, count: 8 << 20))
        try await Self.run([large]) { page, guest async throws in
            let refused = try await Self.unread(WebLimits.downloadsPerAddress, guest.request("GET", "/d/1/large"), page)
            {
                try await guest.send(.HEAD, "/all.zip")
            }
            #expect(refused.code == 503)
            #expect(refused.headers["retry-after"] == ["\(WebLimits.downloadPause)"])
            while try await guest.send(.HEAD, "/all.zip").code != 200 { await Task.yield() }
        }
    }

    /// Runs `body` while as many connections have begun a download and read only its head.
    private static func unread(
        _ count: Int, _ request: String, _ page: WebLoopback, _ body: @Sendable () async throws -> HTTPAnswer
    ) async throws -> HTTPAnswer {
        guard count > 0 else { return try await body() }
        return try await RawGuest.run(page.port) { raw in
            try await raw.write(request)
            _ = try await raw.read(until: "\r\n\r\n")
            return try await unread(count - 1, request, page, body)
        }
    }

    @Test("all downloads together take no more than their room, whatever addresses they come from")
    func room() throws {
        let downloads = Downloads(SharedItems([Self.file]))
        var places: [Downloads.Slot] = []
        for number in 0..<WebLimits.downloadBytes / WebLimits.bytesPerDownload {
            places.append(try downloads.begin(from: AddressKey(v4: UInt32(number))))
        }
        #expect(throws: Downloads.Full.self) { try downloads.begin(from: AddressKey(v4: 9_999)) }
        places.removeLast()
        _ = try downloads.begin(from: AddressKey(v4: 9_999))
    }

    @Test("those who ask for the same ZIP get one plan, and after a change a new one")
    func onePlan() async throws {
        let (tree, file) = (MemorySource.tree("t", [.file("a", [1])]), MemorySource.file("b", [2]))
        let downloads = Downloads(SharedItems([tree, file]))
        let plan = try await downloads.plan(of: nil)
        #expect(try await downloads.plan(of: nil) === plan)
        #expect(tree.openedCount == 1)
        #expect(try await downloads.plan(of: downloads.shared["1"]) !== plan)
        downloads.forget(plan)
        #expect(try await downloads.plan(of: nil) !== plan)
        #expect(tree.openedCount == 3)
    }

    @Test("two plans of the same items are in use at most, and one in use serves when there is no room for another")
    func plansInUse() async throws {
        let small = Downloads(SharedItems([MemorySource.tree("t", [.file("a", [1])])]), planLife: .zero)
        let (first, second) = (try await small.plan(of: nil), try await small.plan(of: nil))
        #expect(first !== second)
        #expect(try await small.plan(of: nil) === second)
        let large = MemorySource.tree("t", (0..<100).map { .file("f\($0)", []) })
        let tight = Downloads(SharedItems([large]), planLife: .zero, planBytes: 20_000)
        let only = try await tight.plan(of: nil)
        #expect(try await tight.plan(of: nil) === only)
        #expect(large.openedCount == 2)
    }

    @Test("a plan whose entries find no room is not made, and leaves the room that it took")
    func planWithoutRoom() throws {
        let budget = MemoryBudget(bytes: 2_000, ofStrangers: 2_000)
        let shared = SharedItems([MemorySource.tree("t", (0..<100).map { .file("f\($0)", []) })])
        #expect(throws: Downloads.Full.self) { try ZipPlan(shared.all, budget.claim(isContact: false)) }
        #expect(budget.bytesTaken == 0)
    }

    @Test("sizes and places beyond 32 bits are counted with their longer records")
    func largeZIP() {
        let large = ZipEntry(kind: .file(executable: false), name: "a", size: 5 << 30, modified: .now)
        let small = ZipEntry(
            kind: .file(executable: false), name: "a", size: 5, modified: Timestamp(seconds: -1, nanoseconds: 0))
        var buffer = ByteBuffer()
        for (entry, offset) in [(large, 0 as UInt64), (small, 6 << 30), (large, 6 << 30), (small, 0)] {
            buffer.clear()
            ZipFormat.writeLocal(entry, 0, into: &buffer)
            ZipFormat.writeDescriptor(entry, 0, into: &buffer)
            #expect(UInt64(buffer.readableBytes) + entry.packedSize == entry.length)
            buffer.clear()
            ZipFormat.writeDirectory(entry, 0, at: offset, into: &buffer)
            #expect(UInt64(buffer.readableBytes) == entry.directoryLength(at: offset))
        }
        buffer.clear()
        for (entries, offset) in [(2, 6 << 30 as UInt64), (70_000, 1)] {
            buffer.clear()
            ZipFormat.writeEnd(entries: entries, directory: 100, at: offset, into: &buffer)
            #expect(ZipFormat.isLarge(entries: entries, directory: 100, at: offset))
            #expect(UInt64(buffer.readableBytes) == ZipFormat.largeEndBytes + ZipFormat.endBytes)
        }
    }

    private static let checkZIP = """
        import sys, zipfile, datetime
        z = zipfile.ZipFile(sys.argv[1])
        for i in z.infolist():
            print(i.filename, i.file_size, '%o' % (i.external_attr >> 16), datetime.date(*i.date_time[:3]))
        assert z.testzip() is None
        print('good')
        """

    private static func python(_ script: String, _ argument: String) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = ["-c", script, argument]
        process.environment = ["PYTHONIOENCODING": "utf-8", "LC_ALL": "C.UTF-8"]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: output, as: UTF8.self)
    }
}

/// An item that is another one each time it is read.
private final class ChangingSource: ItemSource {
    private let states: [MemorySource]
    private let opened = Mutex(0)

    var offered: OfferedItem { states[0].offered }
    var origin: String { states[0].origin }

    init(_ states: [MemorySource]) { self.states = states }

    func open() throws(SourceError) -> any ItemReading {
        let number = opened.withLock { opened in
            opened += 1
            return opened - 1
        }
        return try states[min(number, states.count - 1)].open()
    }
}
