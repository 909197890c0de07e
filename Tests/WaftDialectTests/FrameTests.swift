import Digests
import NIOCore
import Sharing
import TestSupport
import Testing

@testable import WaftDialect

@Suite("Frames")
struct FrameTests {
    /// At least one of each type, with and without each field, and with the extremes of each value.
    private static let all: [Frame] = {
        func path(_ text: String) -> SafeRelativePath {
            guard let path = try? SafeRelativePath(text) else { preconditionFailure("\(text) is no safe path") }
            return path
        }
        func target(_ text: String, of link: SafeRelativePath) -> SafeLinkTarget {
            guard let target = try? SafeLinkTarget(text, of: link) else { preconditionFailure("\(text) leads out") }
            return target
        }
        let deep = path(Array(repeating: "a", count: 128).joined(separator: "/"))
        let long = path(Array(repeating: String(repeating: "ä", count: 127), count: 12).joined(separator: "/"))
        let times = [
            Timestamp(seconds: .min, nanoseconds: 0), Timestamp(seconds: .max, nanoseconds: 999_999_999),
            Timestamp(seconds: -1, nanoseconds: 1),
        ]
        let digest = Digest.of(.xxh3_128, [1, 2, 3] as [UInt8])
        var frames: [Frame] = [
            .item(0), .item(65_535), .file(FileEntry(path: nil, executable: false, modified: nil, size: nil)),
            .file(FileEntry(path: long, executable: true, modified: times[0], size: .max)),
            .file(FileEntry(path: deep, executable: false, modified: times[1], size: 0)),
            .folder(path("Küche 🍳")), .folder(long), .link(path("l"), target: target("a/./b//c", of: path("l"))),
            .link(deep, target: target("../x", of: deep)), .folderClosed(nil, modified: nil),
            .folderClosed(long, modified: times[2]), .fileEnd(digest), .itemEnd(digest), .end,
        ]
        for code in TransferError.Code.allCases {
            frames.append(.itemAbandoned(1, TransferError(code, "")))
            frames.append(.cancel(TransferError(code, String(repeating: "m", count: 1_024))))
            for cause in EndCause.allCases { frames.append(.cancel(TransferError(code, "m", cause: cause))) }
        }
        return frames
    }()

    @Test("each frame reads back as it was written")
    func roundTrip() throws {
        for frame in Self.all {
            var buffer = ByteBuffer()
            buffer.writeFrame(frame)
            let (found, isWhole) = try decode([buffer])
            #expect(found == [.frame(frame)])
            #expect(isWhole)
        }
    }

    @Test("SHA-256 fits where XXH3 does")
    func sha256() throws {
        let digest = Digest.of(.sha256, [1] as [UInt8])
        var buffer = ByteBuffer()
        buffer.writeFrame(.fileEnd(digest))
        #expect(try decode([buffer], digest: .sha256).0 == [.frame(.fileEnd(digest))])
        #expect(throws: TransferError.self) { try decode([buffer], digest: .xxh3_128) }
    }

    @Test("a stream cut in two at any byte is the same stream")
    func cutAnywhere() throws {
        // The short ones: each cut means another pass over all of them.
        var stream = ByteBuffer()
        var whole: [FrameCollector.Found] = []
        for frame in Self.all {
            var buffer = ByteBuffer()
            buffer.writeFrame(frame)
            if buffer.readableBytes > 300 { continue }
            stream.writeImmutableBuffer(buffer)
            whole.append(.frame(frame))
        }
        for cut in 0...stream.readableBytes {
            let pieces = [
                stream.getSlice(at: 0, length: cut), stream.getSlice(at: cut, length: stream.readableBytes - cut),
            ].compactMap { $0 }
            let (found, isWhole) = try decode(pieces)
            #expect(found == whole, "cut at \(cut)")
            #expect(isWhole)
        }
    }

    @Test("a stream in single bytes, and in pieces of any size, is the same stream", arguments: 0..<40 as Range<UInt64>)
    func randomPieces(seed: UInt64) throws {
        var dice = SeededNumbers(seed: seed)
        var stream = ByteBuffer()
        var whole: [FrameCollector.Found] = []
        for frame in Self.all.shuffled(using: &dice) {
            stream.writeFrame(frame)
            whole.append(.frame(frame))
            // An unknown frame, and data between frames.
            stream.writeBytes([0x80 + UInt8.random(in: 0..<0x80, using: &dice), 0, 0, 0, 0, 0, 0, 2, 9, 9])
            let data = (0..<Int.random(in: 1...300, using: &dice)).map { _ in UInt8.random(in: 0...255, using: &dice) }
            _ = stream.writeDataFrame(capacity: data.count) { buffer in
                buffer.copyBytes(from: data)
                return data.count
            }
            whole.append(.data(data))
        }
        let most = seed == 0 ? 1 : Int.random(in: 1...2_000, using: &dice)
        var pieces: [ByteBuffer] = []
        while let piece = stream.readSlice(length: min(Int.random(in: 1...most, using: &dice), stream.readableBytes)),
            piece.readableBytes > 0
        { pieces.append(piece) }
        let (found, isWhole) = try decode(pieces)
        #expect(found == whole)
        #expect(isWhole)
    }

    @Test("a stream that is cut inside a frame is known to be cut")
    func cutStream() throws {
        var frame = ByteBuffer()
        frame.writeFrame(.item(1))
        _ = frame.writeDataFrame(capacity: 3) { _ in 3 }
        for length in 1..<frame.readableBytes where length != 12 {
            #expect(try !decode([try #require(frame.getSlice(at: 0, length: length))]).1, "\(length) bytes")
        }
    }

    @Test("data is passed on as it comes, and nothing of it is held")
    func dataPassesBy() throws {
        var decoder = FrameDecoder(digest: .xxh3_128)
        let collector = FrameCollector()
        try decoder.decode(ByteBuffer(bytes: [6, 0, 0, 0, 0, 0x10, 0, 0]), into: collector)
        for count in [1, 65_536, (1 << 20) - 65_537] {
            try decoder.decode(ByteBuffer(repeating: 7, count: count), into: collector)
            let isWhole = decoder.isBetweenFrames
            #expect(isWhole == (collector.dataBytes == 1 << 20))
        }
        #expect(collector.dataBytes == 1 << 20)
    }

    @Test("an empty data frame is not written")
    func emptyData() {
        var buffer = ByteBuffer()
        #expect(buffer.writeDataFrame(capacity: 10) { _ in 0 } == 0)
        #expect(buffer.readableBytes == 0)
    }

    @Test("a data frame whose source fails is not written")
    func failingData() {
        var buffer = ByteBuffer(string: "before")
        let fault = SourceError(.changed, "it changed")
        #expect(throws: fault) {
            _ = try buffer.writeDataFrame(capacity: 10) { (_) throws(SourceError) -> Int in throw fault }
        }
        #expect(String(buffer: buffer) == "before")
    }

    @Test("a message too long for its field is cut at a whole character")
    func longMessages() throws {
        var buffer = ByteBuffer()
        buffer.writeFrame(.cancel(TransferError(.unexpected, String(repeating: "ä🍳", count: 1_000))))
        let (found, _) = try decode([buffer])
        guard case .frame(.cancel(let fault))? = found.first else {
            Issue.record("no cancel was found")
            return
        }
        #expect(fault.message.utf8.count <= 1_024)
        #expect(fault.message == String(repeating: "ä🍳", count: 170) + "ä")
    }
}

@Suite("Hostile frames")
struct HostileFrameTests {
    private func refusal(_ hex: String) -> TransferError? {
        do {
            let (found, _) = try decode([bytes(ofHex: hex)])
            Issue.record("\(hex) was taken for \(found)")
            return nil
        } catch {
            return error as? TransferError
        }
    }

    @Test("no length is believed before it is checked", arguments: Array(UInt8.min...UInt8.max))
    func lengths(type: UInt8) throws {
        for length: UInt32 in [.max, .max - 7, 1 << 31, (1 << 20) + 1] {
            var header = ByteBuffer(bytes: [type, 0, 0, 0])
            header.writeInteger(length)
            let fault = #expect(throws: TransferError.self) { try decode([header]) }
            #expect(fault?.code == .protocolViolation)
        }
        // Of frames that are held whole, only 16 KiB are.
        if (1...0x0B).contains(type) && type != 6 {
            #expect(throws: TransferError.self) { try decode([ByteBuffer(bytes: [type, 0, 0, 0, 0, 0, 0x40, 1])]) }
        }
    }

    @Test("unknown types are refused below 80 and skipped from there on")
    func unknownTypes() throws {
        for type in [0] + Array(0x0C...0x7F) as [UInt8] {
            #expect(throws: TransferError.self) { try decode([ByteBuffer(bytes: [type, 0, 0, 0, 0, 0, 0, 0])]) }
        }
        for type in 0x80...0xFF as ClosedRange<UInt8> {
            for length in [0, 1, 16_385, 1 << 20] as [UInt32] {
                var frame = ByteBuffer(bytes: [type, 0, 0, 0])
                frame.writeInteger(length)
                frame.writeRepeatingByte(0xFF, count: Int(length))
                let (found, isWhole) = try decode([frame])
                #expect(found.isEmpty && isWhole)
            }
        }
    }

    @Test(
        "malformed frames are refused",
        arguments: [
            "06 00 0000 00000000",  // data of nothing
            "01 00 0000 00000000", "01 00 0000 00000003 000000",  // no item number
            "09 00 0000 00000002 0000",
            "03 00 0000 00000000", "03 00 0000 00000001 01", "03 00 0000 00000002 01 00",  // fields that are cut
            "03 00 0000 00000003 01 0001", "03 00 0000 00000004 01 0002 64", "03 00 0000 00000004 01 ffff 64",
            "03 00 0000 00000005 01 0001 64 7f", "0a 00 0000 00000001 01", "01 00 0000 00000005 00000000 01",
            "03 00 0000 00000008 01 0001 64 01 0001 64",  // a field twice
            "02 00 0000 00000008 02 0001 01 02 0001 01", "02 00 0000 00000006 04 0000 04 0000",
            "03 00 0000 00000005 01 0002 c328", "03 00 0000 00000004 01 0001 ff",  // no UTF-8
            "03 00 0000 00000006 01 0003 eda080", "03 00 0000 00000005 01 0002 c080",
            "04 00 0000 00000004 01 0001 6c", "04 00 0000 00000004 05 0001 6c",  // a link without its half
            "02 00 0000 00000004 02 0001 02", "02 00 0000 00000005 02 0002 0001", "02 00 0000 00000003 02 0000",
            "02 00 0000 0000000e 03 000b 0000000000000000 000000",  // a time of 11 bytes
            "02 00 0000 00000010 03 000d 0000000000000000 0000000000",
            "02 00 0000 0000000f 03 000c 0000000000000000 3b9aca00",  // a whole second of nanoseconds
            "02 00 0000 0000000a 04 0007 00000000000005", "02 00 0000 0000000c 04 0009 000000000000000005",
            "07 00 0000 00000000", "07 00 0000 00000003 07 0000",  // digests
            "07 00 0000 00000012 07 000f 000000000000000000000000000000",
            "08 00 0000 00000014 07 0011 0000000000000000000000000000000000",
            "0b 00 0000 00000000", "0b 00 0000 00000006 08 0003 626164", "09 00 0000 00000004 00000000",  // no message
            "0b 00 0000 00000004 09 0001 ff", "0b 00 0000 00000007 08 0001 ff 09 0000",
        ])
    func malformed(hex: String) {
        #expect(refusal(hex)?.code == .protocolViolation)
    }

    @Test("a message of more than 1,024 bytes is refused")
    func longMessage() {
        let message = String(repeating: "6d", count: 1_025)
        #expect(refusal("0b 00 0000 00000404 09 0401 " + message)?.code == .protocolViolation)
    }

    /// Names of the corpus of the security rules, as paths in a tree.
    static let unsafePaths: [[UInt8]] = [
        "..", ".", "", "/", "/etc/passwd", "../x", "a/../b", "a/..", "a//b", "a/", "./a", "a/./b", "a\0b", "\0", "a\nb",
        "a\u{1B}[2Jb", "a\u{7F}b", "a\u{85}b", "\u{202E}fdp.exe", "a\u{200F}", "\u{FEFF}a", "a\u{2028}b", "a/\u{2066}b",
        String(repeating: "a", count: 256), String(repeating: "ä", count: 128),
        Array(repeating: "a", count: 129).joined(separator: "/"),
        Array(repeating: String(repeating: "a", count: 200), count: 16).joined(separator: "/"),
    ].map { Array($0.utf8) }

    @Test("names that are not safe are refused in every frame that has one", arguments: unsafePaths)
    func unsafeNames(path: [UInt8]) {
        var field = ByteBuffer(bytes: [1])
        field.writeInteger(UInt16(path.count))
        field.writeBytes(path)
        for (type, more) in [(2, []), (3, []), (4, [5, 0, 1, 0x61]), (5, [])] as [(UInt8, [UInt8])] {
            var frame = ByteBuffer(bytes: [type, 0, 0, 0])
            frame.writeInteger(UInt32(field.readableBytes + more.count))
            frame.writeImmutableBuffer(field)
            frame.writeBytes(more)
            let fault = #expect(throws: TransferError.self) { try decode([frame]) }
            #expect(fault?.code == .unsafeName)
        }
    }

    @Test("names that begin with a combining character are read", arguments: SampleNames.joining)
    func joiningNames(name: String) throws {
        let path = Array("d/\(name)".utf8)
        var frame = ByteBuffer(bytes: [3, 0, 0, 0])
        frame.writeInteger(UInt32(3 + path.count))
        frame.writeBytes([1])
        frame.writeInteger(UInt16(path.count))
        frame.writeBytes(path)
        #expect(try decode([frame]).0.first == .frame(.folder(try SafeRelativePath("d/\(name)"))))
    }

    @Test(
        "targets that lead out of their tree are refused",
        arguments: [
            "/", "/etc/passwd", "..", "../x", "a/../../x", "a/..", "", "x\0y", "a/\u{1B}",
            String(repeating: "a", count: 256),
        ])
    func unsafeTargets(target: String) {
        var frame = ByteBuffer(bytes: [4, 0, 0, 0])
        frame.writeInteger(UInt32(4 + 3 + target.utf8.count))
        frame.writeBytes([1, 0, 1, 0x6C, 5])
        frame.writeInteger(UInt16(target.utf8.count))
        frame.writeString(target)
        let fault = #expect(throws: TransferError.self) { try decode([frame]) }
        #expect(fault?.code == .unsafeName)
    }

    @Test("an unknown fault code reads as unexpected")
    func unknownFault() throws {
        let (found, _) = try decode([bytes(ofHex: "0b 00 0000 00000008 08 0001 78 09 0001 6d")])
        #expect(found == [.frame(.cancel(TransferError(.unexpected, "m")))])
    }

    @Test("bytes that mean nothing end in a fault or in nothing, never in a crash", arguments: 0..<300 as Range<UInt64>)
    func noise(seed: UInt64) {
        var dice = SeededNumbers(seed: seed)
        for _ in 0..<20 {
            let count = Int.random(in: 0...600, using: &dice)
            let noise = ByteBuffer(bytes: (0..<count).map { _ in UInt8.random(in: 0...255, using: &dice) })
            _ = try? decode([noise])
            // The same behind a header that fits.
            var frame = ByteBuffer(bytes: [UInt8.random(in: 1...0x0B, using: &dice), 0, 0, 0])
            frame.writeInteger(UInt32(count))
            frame.writeImmutableBuffer(noise)
            _ = try? decode([frame])
        }
    }

    @Test("a good stream with a few bytes changed crosses no border", arguments: 0..<300 as Range<UInt64>)
    func mutations(seed: UInt64) throws {
        var dice = SeededNumbers(seed: seed)
        let sources = [
            MemorySource.text("hello"), .tree("t", [.folder("d", [.file("f", [1, 2, 3])]), .link("l", to: "d/f")]),
            .file("last", Array(repeating: 7, count: 100)),
        ]
        let verdict = Verdict(items: [.accepted, .accepted, ItemVerdict(.declined)])
        let writer = ContentsWriter(sources, verdict: verdict)
        var stream: [UInt8] = []
        while let piece = writer.nextPiece() { stream += Array(buffer: piece) }
        for _ in 0..<Int.random(in: 1...4, using: &dice) {
            let place = Int.random(in: stream.indices, using: &dice)
            switch Int.random(in: 0..<3, using: &dice) {
            case 0: stream[place] = .random(in: 0...255, using: &dice)
            case 1: stream.insert(.random(in: 0...255, using: &dice), at: place)
            default: stream.remove(at: place)
            }
        }
        let inbox = MemoryInbox()
        let transfer = IncomingTransfer(
            offer: Offer(of: sources), verdict: verdict, peer: .sample(1),
            storage: ArrivalStorage(inbox, MemoryJournal(), isDelivered: { _ in true }), report: { _ in })
        var decoder = FrameDecoder(digest: .xxh3_128)
        let receiver = ContentsReceiver(transfer)
        do {
            try decoder.decode(ByteBuffer(bytes: stream), into: receiver)
            _ = try? transfer.finish()
        } catch {
            _ = transfer.fail(error)
        }
        #expect(Set(inbox.names).isSubset(of: ["text.txt", "t"]))
        #expect(inbox["text.txt"].map { $0.bytes == Array("hello".utf8) } != false)
        #expect(inbox["t"].map { $0.entries["d/f"]?.bytes == [1, 2, 3] } != false)
    }
}
