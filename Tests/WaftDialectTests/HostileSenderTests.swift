import Digests
import HTTPChannel
import NIOCore
import NIOHTTP1
import Sharing
import TestSupport
import Testing

@testable import WaftDialect

private let hello = Array("hello".utf8)

@Suite("Content that was not accepted (security rule 2)", .timeLimit(.minutes(1)))
struct UnacceptedContentTests {
    private static let contents: ByteBuffer = {
        var frames = ByteBuffer()
        frames.writeFileItem(0, hello)
        frames.writeFrame(.end)
        return frames
    }()

    @Test("content first, without any offer: refused, nothing on the disk")
    func contentFirst() async throws {
        try await WaftLoopback.run { loopback in
            let answer = try await loopback.post(Self.contents, to: TransferID())
            #expect((answer.status, answer.fault?.code) == (403, .notAccepted))
            #expect(loopback.inbox.everStagedCount == 0)
            try await loopback.served.element(1)
        }
    }

    @Test("content before the verdict: refused, and the verdict is not changed by it")
    func beforeVerdict() async throws {
        try await WaftLoopback.run(.later) { loopback in
            let offer = Offer.sample()
            async let verdict = loopback.offer(offer)
            try await loopback.consent.asked.first()
            let answer = try await loopback.post(Self.contents, to: offer.transfer)
            #expect(answer.status == 403)
            #expect(loopback.inbox.everStagedCount == 0)
            loopback.consent.answer(accept: true)
            #expect(try await verdict.items == [.accepted])
        }
    }

    @Test("content of an offer that was declined: refused, nothing on the disk")
    func declinedOffer() async throws {
        try await WaftLoopback.run(.decline) { loopback in
            let offer = Offer.sample()
            _ = try await loopback.offer(offer)
            let answer = try await loopback.post(Self.contents, to: offer.transfer)
            #expect(answer.status == 403)
            #expect(loopback.inbox.everStagedCount == 0)
        }
    }

    @Test("content of an item that was declined: the transfer ends, nothing on the disk")
    func declinedItem() async throws {
        try await WaftLoopback.run(.items([ItemVerdict(.declined), .accepted])) { loopback in
            let offer = Offer.sample(items: 2)
            _ = try await loopback.offer(offer)
            let answer = try await loopback.post(Self.contents, to: offer.transfer)
            #expect((answer.status, answer.fault?.code) == (101, .notAccepted))
            #expect(loopback.inbox.everStagedCount == 0)
            try await loopback.served.element(2)
        }
    }

    @Test("content twice: the second copy is refused, and the first is stored")
    func twice() async throws {
        try await WaftLoopback.run { loopback in
            let offer = Offer.sample()
            _ = try await loopback.offer(offer)
            let first = try await loopback.post(Self.contents, to: offer.transfer)
            let second = try await loopback.post(Self.contents, to: offer.transfer)
            #expect((first.status, second.status) == (200, 403))
            #expect(loopback.inbox.names == ["file-0"])
        }
    }

    @Test("content on another peer's connection: refused, and the owner can still send")
    func anotherPeer() async throws {
        try await WaftLoopback.run { loopback in
            let offer = Offer.sample()
            _ = try await loopback.offer(offer)
            let stolen = try await loopback.post(Self.contents, to: offer.transfer, as: WaftLoopback.other)
            #expect(stolen.status == 403)
            #expect(loopback.inbox.everStagedCount == 0)
            let own = try await loopback.post(Self.contents, to: offer.transfer)
            #expect(own.status == 200)
        }
    }

    @Test("an offer with a transfer id that another peer has used is declined")
    func stolenID() async throws {
        try await WaftLoopback.run { loopback in
            let offer = Offer.sample()
            _ = try await loopback.offer(offer)
            let verdict = try await loopback.offer(offer, as: WaftLoopback.other)
            #expect(verdict.items.map(\.answer) == [.declined])
        }
    }
}

@Suite("Contents that break the protocol", .timeLimit(.minutes(1)))
struct BrokenContentTests {
    /// A fault in words, the code of its answer, the items that are stored nevertheless, and the frames. The offer has a
    /// file, a tree of a folder with a file, and another file, of five bytes each.
    struct Case: Sendable, CustomStringConvertible {
        var description: String
        var code: TransferError.Code
        var stored: [String]
        var frames: ByteBuffer

        init(
            _ description: String,
            _ code: TransferError.Code,
            stored: [String] = [],
            _ write: (inout ByteBuffer) throws -> Void
        ) {
            self.description = description
            self.code = code
            self.stored = stored
            var frames = ByteBuffer()
            do { try write(&frames) } catch { preconditionFailure("\(description): \(error)") }
            self.frames = frames
        }
    }

    private static let folder: SafeRelativePath = {
        guard let path = try? SafeRelativePath("d") else { preconditionFailure("d is a safe path") }
        return path
    }()
    private static let wrong = Digest.of(.xxh3_128, [0] as [UInt8])

    static let cases: [Case] = [
        Case("only the end", .sizeMismatch) { $0.writeFrame(.end) },
        Case("too few items", .sizeMismatch, stored: ["file-0"]) {
            $0.writeFileItem(0, hello)
            $0.writeFrame(.end)
        },
        Case("an item left out", .protocolViolation) { $0.writeFileItem(2, hello) },
        Case("an item twice", .protocolViolation, stored: ["file-0"]) {
            $0.writeFileItem(0, hello)
            $0.writeFileItem(0, hello)
        },
        Case("an item that was never offered", .protocolViolation) { $0.writeFrame(.item(3)) },
        Case("an item of the highest number", .protocolViolation) { $0.writeFrame(.item(Int(UInt32.max))) },
        Case("a byte too many", .sizeMismatch) {
            $0.writeFrame(.item(0))
            $0.writeFrame(.file(FileEntry(path: nil, executable: false, modified: nil, size: nil)))
            $0.writeData(hello + [0])
        },
        Case("a file announced too large", .sizeMismatch) {
            $0.writeFrame(.item(0))
            $0.writeFrame(.file(FileEntry(path: nil, executable: false, modified: nil, size: 6)))
        },
        Case("a file announced as large as can be", .sizeMismatch) {
            $0.writeFrame(.item(0))
            $0.writeFrame(.file(FileEntry(path: nil, executable: false, modified: nil, size: .max)))
        },
        Case("a byte too few", .sizeMismatch) {
            $0.writeFrame(.item(0))
            $0.writeFile(Array(hello.dropLast()), path: nil, size: 5)
        },
        Case("two files in a file item", .sizeMismatch) {
            $0.writeFrame(.item(0))
            $0.writeFile(hello, path: nil)
            $0.writeFile([], path: nil)
        },
        Case("a path in a file item", .protocolViolation) {
            $0.writeFrame(.item(0))
            $0.writeFile(hello, path: folder)
        },
        Case("a folder in a file item", .protocolViolation) {
            $0.writeFrame(.item(0))
            $0.writeFrame(.folder(folder))
        },
        Case("data before any file", .protocolViolation) { $0.writeData(hello) },
        Case("data between files", .protocolViolation) {
            $0.writeFrame(.item(0))
            $0.writeData(hello)
        },
        Case("the end inside an item", .protocolViolation) {
            $0.writeFrame(.item(0))
            $0.writeFrame(.end)
        },
        Case("an item inside another", .protocolViolation) {
            $0.writeFrame(.item(0))
            $0.writeFrame(.item(1))
        },
        Case("a wrong digest of a file", .digestMismatch) { $0.writeFileItem(0, hello, digest: wrong) },
        Case("a wrong digest of an item", .digestMismatch) {
            $0.writeFrame(.item(0))
            $0.writeFile(hello, path: nil)
            $0.writeFrame(.itemEnd(wrong))
        },
        Case("a digest of an item without contents", .sizeMismatch) {
            $0.writeFrame(.item(0))
            $0.writeFrame(.itemEnd(wrong))
        },
        Case("a file of a tree without a path", .protocolViolation, stored: ["file-0"]) {
            $0.writeFileItem(0, hello)
            $0.writeFrame(.item(1))
            $0.writeFile(hello, path: nil)
        },
        Case("a file in a folder that is not there", .unsafeName, stored: ["file-0"]) {
            $0.writeFileItem(0, hello)
            $0.writeFrame(.item(1))
            $0.writeFile(hello, path: try folder.appending(safe("f")))
        },
        Case("a file where a folder is", .unsafeName, stored: ["file-0"]) {
            $0.writeFileItem(0, hello)
            $0.writeFrame(.item(1))
            $0.writeFrame(.folder(folder))
            $0.writeFile(hello, path: folder)
        },
        Case("more entries than were offered", .sizeMismatch, stored: ["file-0"]) {
            $0.writeFileItem(0, hello)
            $0.writeFrame(.item(1))
            for name in ["a", "b", "c"] { $0.writeFrame(.folder(try SafeRelativePath(name))) }
        },
        Case("a folder closed for ever", .sizeMismatch, stored: ["file-0"]) {
            $0.writeFileItem(0, hello)
            $0.writeFrame(.item(1))
            for _ in 0..<4 { $0.writeFrame(.folderClosed(nil, modified: nil)) }
        },
        Case("a tree whose listing is another", .digestMismatch, stored: ["file-0"]) {
            $0.writeFileItem(0, hello)
            $0.writeFrame(.item(1))
            $0.writeFrame(.folder(folder))
            $0.writeFile(hello, path: try folder.appending(safe("f")))
            $0.writeFrame(.itemEnd(wrong))
        },
        Case("a path that leads out", .unsafeName, stored: ["file-0"]) {
            $0.writeFileItem(0, hello)
            $0.writeFrame(.item(1))
            $0.writeBytes([3, 0, 0, 0, 0, 0, 0, 7, 1, 0, 4] + Array("../x".utf8))
        },
        Case("a link that leads out", .unsafeName, stored: ["file-0"]) {
            $0.writeFileItem(0, hello)
            $0.writeFrame(.item(1))
            $0.writeBytes([4, 0, 0, 0, 0, 0, 0, 15, 1, 0, 1, 0x6C, 5, 0, 8] + Array("../../..".utf8))
        },
        Case("a frame after the end", .protocolViolation) {
            for number in 0..<3 { $0.writeFrame(.itemAbandoned(number, TransferError(.changed, "x"))) }
            $0.writeFrame(.end)
            $0.writeFrame(.end)
        },
        Case("half a frame after the end", .protocolViolation) {
            for number in 0..<3 { $0.writeFrame(.itemAbandoned(number, TransferError(.changed, "x"))) }
            $0.writeFrame(.end)
            $0.writeBytes([1, 0, 0])
        },
        Case("another item abandoned than had begun", .protocolViolation) {
            $0.writeFrame(.item(0))
            $0.writeFrame(.itemAbandoned(1, TransferError(.changed, "x")))
        },
        Case("a length of four gigabytes", .protocolViolation) { $0.writeBytes([6, 0, 0, 0, 255, 255, 255, 255]) },
        Case("noise", .protocolViolation) { $0.writeBytes(Array("GET / HTTP/1.1\r\n\r\n".utf8)) },
        Case("a cancel", .cancelled, stored: ["file-0"]) {
            $0.writeFileItem(0, hello)
            $0.writeFrame(.cancel(TransferError(.cancelled, "no more")))
        },
    ]

    static func offer() -> Offer {
        let file = MemorySource.file("file-0", hello)
        return Offer(of: [file, .tree("tree", [.folder("d", [.file("f", hello)])]), .file("file-2", hello)])
    }

    @Test("it is answered with its fault, and nothing half is stored", arguments: cases)
    func broken(case: Case) async throws {
        try await WaftLoopback.run { loopback in
            let offer = Self.offer()
            _ = try await loopback.offer(offer)
            let answer = try await loopback.post(`case`.frames, to: offer.transfer)
            #expect(answer.fault?.code == `case`.code, "\(answer.fault?.message ?? "none")")
            #expect(loopback.inbox.names == `case`.stored)
            #expect(loopback.inbox.stagedCount == 0)
            // The receipt names the stored items, and the item that was being sent.
            let receipt = try #require(answer.receipt)
            #expect(receipt.filter { $0.state == "stored" }.compactMap(\.name) == `case`.stored)
        }
    }

    @Test("a receiver that has seen all of that still receives")
    func afterwards() async throws {
        try await WaftLoopback.run { loopback in
            for broken in Self.cases.prefix(10) {
                let offer = Self.offer()
                _ = try await loopback.offer(offer)
                _ = try await loopback.post(broken.frames, to: offer.transfer)
            }
            let outcome = try await loopback.send([.file("good", hello)])
            #expect(outcome.items.map(\.word) == ["stored"])
        }
    }
}

@Suite("A sender that vanishes", .timeLimit(.minutes(1)))
struct VanishingSenderTests {
    /// The frames of a whole transfer of `BrokenContentTests.offer`, each for itself.
    private static let frames: [ByteBuffer] = {
        var pieces: [ByteBuffer] = []
        func add(_ write: (inout ByteBuffer) -> Void) {
            var piece = ByteBuffer()
            write(&piece)
            pieces.append(piece)
        }
        guard let folder = try? SafeRelativePath("d"), let file = try? SafeRelativePath("d/f") else {
            preconditionFailure("d/f is a safe path")
        }
        let digest = Digest.of(.xxh3_128, hello)
        var listing = TreeListing(.xxh3_128)
        listing.folder(folder)
        listing.file(file, executable: false, digest: digest)
        let sum = listing.finalize()
        for number in [0, 1, 2] {
            add { $0.writeFrame(.item(number)) }
            if number == 1 { add { $0.writeFrame(.folder(folder)) } }
            let path = number == 1 ? file : nil
            add { $0.writeFrame(.file(FileEntry(path: path, executable: false, modified: nil, size: 5))) }
            add { $0.writeData([UInt8](hello.prefix(2))) }
            add { $0.writeData([UInt8](hello.dropFirst(2))) }
            add { $0.writeFrame(.fileEnd(digest)) }
            if number == 1 {
                add { $0.writeFrame(.folderClosed(folder, modified: nil)) }
                add { $0.writeFrame(.folderClosed(nil, modified: nil)) }
            }
            add { $0.writeFrame(.itemEnd(number == 1 ? sum : digest)) }
        }
        add { $0.writeFrame(.end) }
        return pieces
    }()

    @Test("the frames it would have sent are a whole transfer")
    func whole() async throws {
        try await WaftLoopback.run { loopback in
            let offer = BrokenContentTests.offer()
            _ = try await loopback.offer(offer)
            let all = Self.frames.reduce(into: ByteBuffer()) { $0.writeImmutableBuffer($1) }
            let answer = try await loopback.post(all, to: offer.transfer)
            #expect(answer.status == 200)
            #expect(loopback.inbox.names == ["file-0", "tree", "file-2"])
        }
    }

    @Test(
        "at any border between two frames, and in the middle of each, nothing half is stored",
        arguments: 0..<frames.count,
        [true, false])
    func vanishes(sent: Int, middle: Bool) async throws {
        try await WaftLoopback.run { loopback in
            let offer = BrokenContentTests.offer()
            _ = try await loopback.offer(offer)
            var frames = Self.frames.prefix(sent).reduce(into: ByteBuffer()) { $0.writeImmutableBuffer($1) }
            let next = Self.frames[sent]
            if middle, let half = next.getSlice(at: 0, length: next.readableBytes / 2) {
                frames.writeImmutableBuffer(half)
            }
            let fault = try await loopback.cut(offer.transfer, after: frames)
            #expect(fault?.code == .interrupted)
            // Where the last frame of each item is.
            let ends = [6, 15, 21]
            #expect(loopback.inbox.names == Array(["file-0", "tree", "file-2"].prefix(ends.count { $0 <= sent })))
            #expect(loopback.inbox.stagedCount == 0)
        }
    }

    @Test("in the middle of an offer nothing is left, and no user is asked")
    func inOffer() async throws {
        try await WaftLoopback.run { loopback in
            let body = try WaftDialect.encode(Offer.sample())
            let head = ByteBuffer(
                string: "POST /waft/1/offers HTTP/1.1\r\ncontent-length: \(body.readableBytes)\r\n\r\n")
            let half = try #require(body.getSlice(at: 0, length: body.readableBytes / 2))
            try await loopback.sendAndVanish([head, half])
            try await loopback.sendAndVanish([head])
            try await loopback.sendAndVanish([])
            try await loopback.served.element(3)
            #expect(loopback.consent.asked.count == 0)
        }
    }

    @Test("while it waits for its receipt, stored items stay stored")
    func beforeReceipt() async throws {
        try await WaftLoopback.run { loopback in
            let offer = BrokenContentTests.offer()
            _ = try await loopback.offer(offer)
            let all = Self.frames.reduce(into: ByteBuffer()) { $0.writeImmutableBuffer($1) }
            let fault = try await loopback.cut(offer.transfer, after: all)
            #expect(fault == nil)
            #expect(loopback.inbox.names == ["file-0", "tree", "file-2"])
            // And it can be asked for later.
            let receipt = try await loopback.client {
                try await $0.receipt(of: offer, answered: false, timeout: .seconds(60))
            }
            #expect(receipt.items.count == 3)
        }
    }
}

@Suite("Requests that are none of the protocol", .timeLimit(.minutes(1)))
struct HostileRequestTests {
    private func fault(of answer: HTTPAnswer) throws -> TransferError.Code? {
        TransferError.Code(rawValue: try WaftDialect.decode(FaultMessage.self, from: answer.body).fault)
    }

    @Test("an unknown resource is not found, and another method is not allowed")
    func resources() async throws {
        try await WaftLoopback.run { loopback in
            for (method, path, status) in [
                (.GET, "/", 404), (.GET, "/index.html", 404), (.POST, "/waft/2/offers", 404),
                (.GET, "/waft/1/offers", 405),
                (.DELETE, "/waft/1/card", 405), (.POST, "/waft/1/card", 405),
                (.GET, "/waft/1/transfers/x/contents", 404),
                (.PUT, "/waft/1/transfers/\(TransferID())/contents", 405),
            ] as [(HTTPMethod, String, Int)] {
                let answer = try await loopback.http { try await $0.exchange(method, path, timeout: .seconds(60)) }
                #expect(Int(answer.status.code) == status, "\(method) \(path)")
                #expect(try fault(of: answer) == .protocolViolation)
            }
        }
    }

    @Test("a malformed offer is answered with its fault, and no user is asked")
    func malformedOffers() async throws {
        let unsafe =
            #"{"v":1,"transfer":"\#(TransferID())"}\#n{"kind":"file","name":"../x","type":"public.data"}"#
        try await WaftLoopback.run { loopback in
            for (body, status, code) in [
                ("", 400, .protocolViolation), ("nonsense", 400, .protocolViolation), ("{}", 400, .protocolViolation),
                (String(repeating: "[", count: 1 << 20), 400, .protocolViolation), (unsafe, 409, .unsafeName),
            ] as [(String, Int, TransferError.Code)] {
                let answer = try await loopback.http {
                    try await $0.exchange(
                        .POST, "/waft/1/offers", body: ByteBuffer(string: body), timeout: .seconds(60))
                }
                #expect(Int(answer.status.code) == status)
                #expect(try fault(of: answer) == code)
            }
            #expect(loopback.consent.asked.count == 0)
        }
    }

    @Test("an offer of more than 10 MiB is not listened to")
    func hugeOffer() async throws {
        try await WaftLoopback.run { loopback in
            let body = ByteBuffer(repeating: 0x20, count: Limits.offerBytes + Limits.previewTextBytes + 1)
            let answer = try await loopback.http { http in
                try await http.exchange(.POST, "/waft/1/offers", body: body, timeout: .seconds(60))
            }
            #expect(answer.status == .payloadTooLarge)
        }
    }

    @Test("an offer of as many items as are allowed is answered, and all of them can be stored")
    func manyItems() async throws {
        try await WaftLoopback.run(.decline) { loopback in
            let verdict = try await loopback.offer(.sample(items: Limits.items))
            #expect(verdict.items.count == Limits.items)
        }
    }
}
