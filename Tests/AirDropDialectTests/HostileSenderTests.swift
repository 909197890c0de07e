import Foundation
import HTTPChannel
import NIOCore
import NIOHTTP1
import Sharing
import TestSupport
import Testing
import UniformTypes

@testable import AirDropDialect

@Suite("Hostile senders of AirDrop", .timeLimit(.minutes(3)))
struct HostileSenderTests {
    private static func archive(_ build: (inout HandMadeArchive) -> Void) -> ByteBuffer {
        var archive = HandMadeArchive()
        build(&archive)
        return ByteBuffer(bytes: archive.whole)
    }

    // MARK: Order

    @Test("contents without a question, after a no, or a second time are refused, and nothing is staged")
    func uninvited() async throws {
        let body = Self.archive { $0.add("./a", [1]) }
        try await AirDropLoopback.run { receiver in
            try await receiver.http { http in
                var pieces = [body]
                let answer = try await http.upload("/Upload", headers: [:], timeout: .seconds(60)) { pieces.popLast() }
                #expect(answer.status == .unauthorized)
            }
            // The question uses one connection, the contents use another.
            try await receiver.http { asking in
                #expect(try await asking.post("/Ask", HandMadeAsk.files("a")).status == .ok)
                try await receiver.http { http in
                    var pieces = [body]
                    let answer = try await http.upload("/Upload", headers: [:], timeout: .seconds(60)) {
                        pieces.popLast()
                    }
                    #expect(answer.status == .unauthorized)
                }
            }
            #expect(receiver.inbox.everStagedCount == 0)
        }
    }

    @Test("the contents of another transfer are not these, and the transfer's own name may be in either case")
    func wrongTransfer() async throws {
        for (said, expected) in [
            ("00000000-0000-0000-0000-000000000000", 401), ("6F9619FF-8B86-D011-B42D-00C04FC964FF", 200),
        ] {
            try await AirDropLoopback.run { receiver in
                let answers = try await receiver.send(
                    ask: Vector.buffer("ask.apple.plist"), type: "application/x-dvzip",
                    headers: [("TransferID", said)], pieces: [Vector.buffer("apple.dvzip")])
                #expect(answers.upload == expected)
                #expect(receiver.inbox.stored.isEmpty == (expected == 401))
            }
        }
    }

    @Test("contents whose type is no archive are refused with 406, and contents whose bytes are no archive with 400")
    func noArchive() async throws {
        for (type, bytes, expected) in [
            ("text/html", "<html>", 406), ("application/x-cpio", "PK\u{3}\u{4}", 400),
            ("application/x-cpio", "0123456789012345678901234567890123456789", 400),
            ("application/x-dvzip", "\u{0}\u{0}\u{0}\u{0}", 400), ("application/x-dvzip", "\u{0}\u{7f}\u{7f}", 400),
            ("application/x-cpio", "", 400),
        ] {
            try await AirDropLoopback.run { receiver in
                let answers = try await receiver.send(
                    ask: HandMadeAsk.files("a"), type: type, pieces: [ByteBuffer(string: bytes)])
                #expect(answers.upload == expected, "\(type) \(bytes)")
                #expect(receiver.inbox.stored.isEmpty)
            }
        }
    }

    // MARK: Names

    @Test(
        "a member whose path is absolute or goes upwards ends the transfer, and nothing of it stays",
        arguments: [
            "../a", "./../a", "./d/../../a", "/etc/passwd", "./d/..", "./d/../x", "NSIRD_AirDrop_abcdef/../d/x",
            "./NSIRD_AirDrop_a/NSIRD_AirDrop_b/d/x",
        ])
    func unsafeMembers(_ name: String) async throws {
        try await AirDropLoopback.run { receiver in
            let body = Self.archive { archive in
                archive.folder("./d")
                archive.add("./d/good", [1])
                archive.add(name, [1])
            }
            let answers = try await receiver.send(ask: HandMadeAsk.folder("d"), pieces: [body])
            #expect(answers.upload == 400 || answers.upload == 401)
            #expect(receiver.inbox.stored.isEmpty && receiver.inbox.stagedCount == 0)
        }
    }

    @Test("names that begin with a combining character are taken, in any order of the archive")
    func joiningNames() async throws {
        try await AirDropLoopback.run { receiver in
            let names = SampleNames.joining
            let body = Self.archive { archive in
                for name in names.reversed() {
                    archive.folder("./d/m\(name)")
                    archive.add("./d/\(name)", [1])
                    archive.add("./d/m\(name)/\(name)", [2])
                }
            }
            let answers = try await receiver.send(ask: HandMadeAsk.folder("d"), pieces: [body])
            #expect(answers.upload == 200)
            let entries = try #require(receiver.inbox["d"]?.entries)
            #expect(entries.keys.filter { !$0.isEmpty }.count == 3 * names.count)
            for name in names {
                #expect(entries[name]?.bytes == [1])
                #expect(entries["m\(name)/\(name)"]?.bytes == [2])
            }
        }
    }

    @Test(
        "a question with a name that is no name is refused before anybody is asked",
        arguments: ["", ".", "..", "/", "a/../b", "1/2/3/4/5/6/7/8/9"])
    func unsafeQuestions(_ name: String) async throws {
        try await AirDropLoopback.run { receiver in
            let answer = try await receiver.http { try await $0.post("/Ask", HandMadeAsk.files(name)) }
            #expect(answer.status == .badRequest)
            #expect(receiver.consent.asked.count == 0)
        }
    }

    @Test("a file and a folder cannot be announced for one place")
    func onePlace() async throws {
        try await AirDropLoopback.run { receiver in
            let files = [
                HandMadeAsk.File(name: "a"), HandMadeAsk.File(name: "a", type: "public.folder", isFolder: true),
            ]
            for files in [files, files.reversed(), [files[1], files[1]]] {
                let answer = try await receiver.http { try await $0.post("/Ask", HandMadeAsk(files: files).encoded) }
                #expect(answer.status == .badRequest)
            }
        }
    }

    @Test("a member that was not announced ends the transfer, wherever it stands")
    func unannounced() async throws {
        for place in 0..<2 {
            try await AirDropLoopback.run { receiver in
                let body = Self.archive { archive in
                    if place == 0 { archive.add("./evil", [1]) }
                    archive.add("./a", [1])
                    if place == 1 { archive.add("./evil", [1]) }
                }
                let answers = try await receiver.send(ask: HandMadeAsk.files("a"), pieces: [body])
                #expect(answers.upload == 401)
                #expect(receiver.inbox.stored.isEmpty)
                #expect(receiver.inbox.stagedCount == 0)
            }
        }
    }

    @Test("an item is of the announced kind: no folder for a file, no link, no second time, nothing inside a file")
    func otherKind() async throws {
        let bodies = [
            Self.archive { $0.folder("./a") },
            Self.archive { $0.link("./a", to: "b") },
            Self.archive { $0.add("./a/b", [1]) },
            Self.archive { archive in
                archive.add("./a", [1])
                archive.add("./a", [2])
            },
        ]
        for body in bodies {
            try await AirDropLoopback.run { receiver in
                let answers = try await receiver.send(ask: HandMadeAsk.files("a"), pieces: [body])
                #expect(answers.upload == 400)
                #expect(receiver.inbox.stagedCount == 0)
            }
        }
    }

    @Test("nothing is put behind a link, or where something lies already")
    func swaps() async throws {
        let bodies = [
            Self.archive { archive in
                archive.folder("./d")
                archive.link("./d/l", to: "x")
                archive.add("./d/l/y", [1])
            },
            Self.archive { archive in
                archive.add("./d/x", [1])
                archive.add("./d/x", [2])
            },
            Self.archive { archive in
                archive.add("./d/x", [1])
                archive.add("./d/x/y", [2])
            },
            Self.archive { archive in
                archive.folder("./d/x")
                archive.link("./d/x", to: "y")
            },
        ]
        for body in bodies {
            try await AirDropLoopback.run { receiver in
                let answers = try await receiver.send(ask: HandMadeAsk.folder("d"), pieces: [body])
                #expect(answers.upload == 400)
                #expect(receiver.inbox.stored.isEmpty && receiver.inbox.stagedCount == 0)
            }
        }
    }

    // MARK: Sizes

    @Test("more than was announced is refused, less than was announced is taken")
    func sizes() async throws {
        for (size, expected) in [(2, 400), (3, 200), (4, 200)] as [(UInt64, Int)] {
            try await AirDropLoopback.run { receiver in
                let ask = HandMadeAsk(files: [HandMadeAsk.File(name: "a", size: size)]).encoded
                let answers = try await receiver.send(ask: ask, pieces: [Self.archive { $0.add("./a", [1, 2, 3]) }])
                #expect(answers.upload == expected)
            }
        }
    }

    @Test("the transfer fails if an announced item does not come")
    func missing() async throws {
        try await AirDropLoopback.run { receiver in
            let answers = try await receiver.send(
                ask: HandMadeAsk.files("a", "b"), pieces: [Self.archive { $0.add("./a", [1]) }])
            #expect(answers.upload == 400)
        }
    }

    @Test("10 MB that would inflate to 10 GB are stopped at once, in either form")
    func bombs() async throws {
        let zeros = [UInt8](repeating: 0, count: AirDropLimits.blockBytes)
        for form in [BodyDeflater.Form.dvzip, .gzip] {
            try await AirDropLoopback.run { receiver in
                let deflater = try BodyDeflater(form)
                var start = HandMadeArchive()
                start.add("./a", claimed: 8_000_000_000)
                var body = ByteBuffer()
                start.bytes.withUnsafeBytes { deflater.add($0, to: &body) }
                while body.readableBytes < 10_000_000 {
                    zeros.withUnsafeBytes { deflater.add($0, to: &body) }
                    // All blocks are alike, so the test copies the rest.
                    if form == .dvzip, body.readableBytes > 1_000 {
                        var block = ByteBuffer()
                        zeros.withUnsafeBytes { deflater.add($0, to: &block) }
                        while body.readableBytes < 10_000_000 { body.writeImmutableBuffer(block) }
                    }
                }
                let answers = try await receiver.send(
                    ask: HandMadeAsk.files("a"), type: "application/x-dvzip", pieces: body.pieces(of: 64 << 10))
                #expect(answers.upload == 400)
                #expect(receiver.inbox.stored.isEmpty && receiver.inbox.stagedCount == 0)
                #expect(try await receiver.end()?.code == .sizeMismatch)
            }
        }
    }

    @Test(
        "a block that inflates to more than a block may, is longer, empty, endless, or has more behind its end is refused",
        arguments: ["oversized.dvzip", "behind.dvzip", "endless.dvzip", "empty.dvzip", "long.dvzip"])
    func blocks(_ name: String) throws {
        let body = try Vector.buffer(name)
        for size in [1, 1 << 20] {
            #expect(throws: TransferError.self) { try inflateAll(body, in: size) }
        }
    }

    @Test("a name without end is not waited for")
    func endlessName() async throws {
        try await AirDropLoopback.run { receiver in
            // newc stores the length of a name in eight hexadecimal digits.
            let fields = ["1", "81A4", "0", "0", "1", "0", "0", "0", "0", "0", "0", "FFFFFFF0", "0"]
            var body = ByteBuffer(string: "070701")
            for field in fields { body.writeString(String(repeating: "0", count: 8 - field.count) + field) }
            let junk = ByteBuffer(repeating: UInt8(ascii: "n"), count: 1 << 20)
            var pieces = [body] + Array(repeating: junk, count: 16)
            pieces.append(ByteBuffer(string: "end"))
            let answers = try await receiver.send(ask: HandMadeAsk.files("a"), pieces: pieces)
            #expect(answers.upload == 400)
        }
    }

    @Test("a full disk is answered with 500, and nothing stays")
    func fullDisk() async throws {
        try await AirDropLoopback.run(inbox: .fullAfter(1_000)) { receiver in
            let body = Self.archive { $0.add("./a", Array(repeating: 1, count: 5_000)) }
            let answers = try await receiver.send(ask: HandMadeAsk.files("a"), pieces: [body])
            #expect(answers.upload == 500)
            #expect(receiver.inbox.stored.isEmpty && receiver.inbox.stagedCount == 0)
        }
    }

    // MARK: Cuts

    @Test(
        "a connection that breaks off anywhere in the contents leaves nothing behind",
        arguments: ["plain.odc.cpio", "plain.odc.cpio.gz", "mixed.dvzip"])
    func cuts(_ name: String) async throws {
        let body = try Vector.buffer(name)
        for length in stride(from: 0, to: body.readableBytes - 8, by: 41) {
            try await AirDropLoopback.run { receiver in
                let ask = try Vector.buffer("ask.opendrop.plist")
                try await receiver.bare { bare in
                    try await bare.send("POST /Ask HTTP/1.1\r\nContent-Length: \(ask.readableBytes)\r\n\r\n")
                    try await bare.send(ask)
                    _ = try await bare.receive(until: "ReceiverModelName")
                    try await bare.send(
                        "POST /Upload HTTP/1.1\r\nContent-Type: application/x-cpio\r\n"
                            + "Content-Length: \(body.readableBytes)\r\n\r\n")
                    if let part = body.getSlice(at: 0, length: length), length > 0 { try await bare.send(part) }
                }
                try await receiver.served.element(1)
                #expect(try await receiver.end() != nil, "\(name) cut at \(length)")
                #expect(receiver.inbox.stagedCount == 0, "\(name) cut at \(length)")
                #expect(receiver.reception.openTransfers == 0)
            }
        }
    }

    @Test("a body that ends before the archive does is no whole transfer")
    func short() async throws {
        for name in ["plain.odc.cpio", "plain.odc.cpio.gz", "mixed.dvzip"] {
            let body = try Vector.buffer(name)
            for length in stride(from: 1, to: body.readableBytes - 130, by: 37) {
                try await AirDropLoopback.run { receiver in
                    let part = try #require(body.getSlice(at: 0, length: length))
                    let answers = try await receiver.send(ask: Vector.buffer("ask.opendrop.plist"), pieces: [part])
                    #expect(answers.upload == 400, "\(name) cut at \(length)")
                    #expect(receiver.inbox.stagedCount == 0)
                }
            }
        }
    }

    @Test("a receiver that is stopped in the middle ends, and leaves nothing staged")
    func stopped() async throws {
        let inbox = MemoryInbox()
        var archive = HandMadeArchive()
        archive.add("./a", [UInt8](repeating: 1, count: 100_000), claimed: 1_000_000)
        let part = ByteBuffer(bytes: archive.bytes)
        let hasEnded = Gate()
        try await AirDropLoopback.run(inbox: inbox) { receiver in
            // The task still sends while the receiver stops, and ends with its connection.
            Task {
                try? await receiver.bare { bare in
                    let ask = HandMadeAsk.files("a")
                    try await bare.send("POST /Ask HTTP/1.1\r\nContent-Length: \(ask.readableBytes)\r\n\r\n")
                    try await bare.send(ask)
                    _ = try await bare.receive(until: "ReceiverModelName")
                    try await bare.send(
                        "POST /Upload HTTP/1.1\r\nContent-Type: application/x-cpio\r\n"
                            + "Content-Length: 2000000\r\n\r\n")
                    try await bare.send(part)
                    _ = try await bare.receive(until: "never")
                }
                hasEnded.open()
            }
            _ = try await receiver.events.first { event in
                if case .progressed = event { true } else { false }
            }
        }
        await hasEnded.wait()
        #expect(inbox.stored.isEmpty && inbox.stagedCount == 0)
    }

    @Test(
        "contents that were changed on the way end the transfer, whatever the change is",
        arguments: 0..<120 as Range<UInt64>)
    func changedContents(seed: UInt64) async throws {
        let names = ["plain.odc.cpio", "plain.newc.cpio", "plain.odc.cpio.gz", "mixed.dvzip", "apple.dvzip"]
        var numbers = SeededNumbers(seed: seed)
        var body = try Vector.bytes(names[Int(seed) % names.count])
        for _ in 0..<Int.random(in: 1...6, using: &numbers) {
            body[Int.random(in: 0..<body.count, using: &numbers)] = UInt8.random(in: 0...255, using: &numbers)
        }
        let contents = ByteBuffer(bytes: body)
        try await AirDropLoopback.run { receiver in
            _ = try await receiver.send(
                ask: Vector.buffer("ask.apple.plist"), type: "application/x-dvzip", pieces: contents.pieces(of: 200))
            _ = try await receiver.end()
            #expect(receiver.inbox.stagedCount == 0, "seed \(seed)")
            #expect(Set(receiver.inbox.names).isSubset(of: Vector.names), "seed \(seed)")
        }
    }

    // MARK: Messages

    @Test("questions that are no questions are refused", arguments: 0..<200 as Range<UInt64>)
    func mutations(seed: UInt64) throws {
        var numbers = SeededNumbers(seed: seed)
        var bytes = try Vector.bytes("ask.apple.plist")
        for _ in 0..<Int.random(in: 1...8, using: &numbers) {
            bytes[Int.random(in: 0..<bytes.count, using: &numbers)] = UInt8.random(in: 0...255, using: &numbers)
        }
        if Bool.random(using: &numbers) { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &numbers)) }
        // Each error is allowed, but nothing traps.
        _ = try? AskedOffer(AskReading(ByteBuffer(bytes: bytes)), registry: .system)
    }

    @Test("a question of more than may be asked is refused at its length, and so is one of too many files")
    func large() async throws {
        try await AirDropLoopback.run { receiver in
            let answer = try await receiver.http {
                try await $0.post("/Ask", ByteBuffer(repeating: 0, count: AirDropLimits.askBytes + 1))
            }
            #expect(answer.status == .payloadTooLarge)
            let many = HandMadeAsk.files((0...Limits.items).map { "f\($0)" })
            if many.readableBytes <= AirDropLimits.askBytes {
                #expect(try await receiver.http { try await $0.post("/Ask", many) }.status == .badRequest)
            }
            #expect(receiver.consent.asked.count == 0)
        }
    }

    @Test("other paths and methods are nothing here")
    func elsewhere() async throws {
        try await AirDropLoopback.run { receiver in
            for (method, path, status) in [
                (HTTPMethod.GET, "/", 405), (.GET, "/Ask", 405), (.POST, "/", 405), (.POST, "/Else", 404),
                (.POST, "/Discover?x", 404), (.PUT, "/Upload", 405),
            ] {
                let answer = try await receiver.http {
                    try await $0.exchange(method, path, headers: [:], body: ByteBuffer(), timeout: .seconds(60))
                }
                #expect(Int(answer.status.code) == status, "\(method) \(path)")
            }
        }
    }
}

/// All bytes that a body inflates to, if it is fed in pieces of one size.
func inflateAll(_ body: ByteBuffer, in size: Int, room: Int = 64 << 10) throws -> [UInt8] {
    let inflater = BodyInflater(InflationLimit(Offer.sample(size: nil)))
    var room = [UInt8](repeating: 0, count: room)
    var all: [UInt8] = []
    for piece in body.pieces(of: size) {
        var rest = piece
        while true {
            let (consumed, produced) = try rest.withUnsafeReadableBytes { bytes in
                try room.withUnsafeMutableBytes { try inflater.inflate(bytes, into: $0) }
            }
            rest.moveReaderIndex(forwardBy: consumed)
            all += room[..<produced]
            if produced == 0 { break }
        }
        #expect(rest.readableBytes == 0)
    }
    guard inflater.isBetweenBlocks else { throw TransferError(.sizeMismatch, "it ends early") }
    return all
}
