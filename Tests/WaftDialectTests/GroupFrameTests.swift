import Digests
import Groups
import NIOCore
import NIOHTTP1
import Sharing
import TestSupport
import Testing

@testable import WaftDialect

/// The messages of one direction that come from some bytes, in pieces.
/// - Returns: them, and whether the stream could end there.
func groupMessages<Reading: GroupReading>(
    _ reading: Reading, _ pieces: [ByteBuffer]
) throws -> (messages: [Reading.Message], isWhole: Bool) {
    var decoder = GroupDecoder(reading)
    var messages: [Reading.Message] = []
    for piece in pieces {
        var piece = piece
        while let message = try decoder.next(&piece) { messages.append(message) }
        // Of a complete frame nothing is held.
        let (isWhole, held) = (decoder.isBetweenFrames, decoder.heldBytes)
        #expect(piece.readableBytes == 0)
        #expect(!isWhole || held == 0)
    }
    return (messages, decoder.isBetweenFrames)
}

/// The values that the tests of groups share.
enum GroupSamples {
    static let previous = Place.Previous(
        link: 1, peer: .sample(0x11), token: Token(high: 0x0123_4567_89ab_cdef, low: 0xfedc_ba98_7654_3210))

    static func next(_ addresses: [NetworkAddress], port: UInt16 = 9_100) -> Place.Next {
        Place.Next(
            link: 2, peer: .sample(0x22), token: Token(high: 0x0011_2233_4455_6677, low: 0x8899_aabb_ccdd_eeff),
            addresses: addresses, port: port)
    }

    static let place = Place(
        epoch: 3, previous: previous, next: next([.v4(0xC000_0207), .v6(0x2001_0db8_0000_0000, 7)]))

    static let hello = ByteBuffer(string: "hello")
    /// Two blocks: zeros, and `hello`.
    static let stream: BlockedStream = {
        guard let stream = BlockedStream(bytes: 65_541) else { preconditionFailure("a stream has 65,541 bytes") }
        return stream
    }()

    static func digest(of block: Int) -> Digest {
        block == 1 ? .of(.sha256, Array("hello".utf8)) : .of(.sha256, Array(repeating: 0 as UInt8, count: 65_536))
    }

    /// A digest of its own for each block.
    static func numbered(_ block: Int) -> Digest { .of(.sha256, Array("\(block)".utf8)) }

    /// Each message of the sender with one frame, with the extremes of each value.
    static let ofSender: [SenderMessage] = {
        let v6 = Array(repeating: NetworkAddress.v6(.max, .max), count: GroupLimits.addresses)
        let causes: [LeaveCause] = [
            .cannotRelay, .otherTerms, .tooSmall, .late, .unreachable, .wrongBlock, .slow, .gap,
            .fault(.tooManyMessages), .fault(.wrongCount(0)), .fault(.wrongCount(BlockedStream.maximumBlocks)), .other,
        ]
        return [
            .place(place), .place(Place(epoch: .max, previous: previous, next: nil)),
            .place(Place(epoch: 0, previous: previous, next: next(v6, port: .max))),
            .place(Place(epoch: 1, previous: previous, next: next([.v4(0)], port: 0))), .digests(0..<1),
            .digests(7..<7 + GroupFrame.digests),
            .digests(BlockedStream.maximumBlocks - 1..<BlockedStream.maximumBlocks),
            .beat, .end,
        ] + causes.map { .out($0) }
    }()

    static let ofMember: [MemberMessage] =
        [.beat(has: 0), .beat(has: BlockedStream.maximumBlocks), .leaving]
        + [.unreachable, .broken, .gap, .wrong].flatMap { trouble in
            [0, 1, .max].map { MemberMessage.trouble(trouble, link: $0) }
        }

    static let reports = [
        Report(has: 0, next: 0), Report(has: 5, next: 4),
        Report(has: BlockedStream.maximumBlocks, next: BlockedStream.maximumBlocks),
    ]
}

@Suite("Frames of groups")
struct GroupFrameTests {
    private func written(_ messages: [SenderMessage]) -> ByteBuffer {
        var bytes = ByteBuffer()
        for message in messages { bytes.writeGroupMessage(message, digest: GroupSamples.numbered) }
        return bytes
    }

    /// Cuts some bytes in two at each place.
    private func cuts(_ bytes: ByteBuffer) -> [[ByteBuffer]] {
        (0...bytes.readableBytes).map { cut in
            [bytes.getSlice(at: 0, length: cut), bytes.getSlice(at: cut, length: bytes.readableBytes - cut)]
                .compactMap { $0 }
        }
    }

    @Test("each message of the sender reads back as it was written, also cut at each place")
    func senderRoundTrip() throws {
        for message in GroupSamples.ofSender {
            for pieces in cuts(written([message])) {
                let (frames, isWhole) = try groupMessages(SenderReading(), pieces)
                #expect(frames.map(\.message) == [message])
                #expect(isWhole)
                guard case .digests(let blocks) = message, let digests = frames.first?.digests else { continue }
                #expect(digests.blocks == blocks)
                for block in [blocks.lowerBound, blocks.upperBound - 1] {
                    #expect(digests.digest(of: block) == GroupSamples.numbered(block))
                }
                #expect(digests.digest(of: blocks.lowerBound - 1) == nil)
                #expect(digests.digest(of: blocks.upperBound) == nil)
            }
        }
    }

    @Test("each message of a member, and each report, reads back as it was written, also cut at each place")
    func memberRoundTrip() throws {
        var (told, reported) = (ByteBuffer(), ByteBuffer())
        for message in GroupSamples.ofMember { told.writeGroupMessage(message) }
        for report in GroupSamples.reports { reported.writeGroupReport(report) }
        for pieces in cuts(told) {
            #expect(try groupMessages(MemberReading(), pieces).messages == GroupSamples.ofMember)
        }
        for pieces in cuts(reported) {
            #expect(try groupMessages(ReportReading(), pieces).messages == GroupSamples.reports)
        }
    }

    @Test("blocks come with their numbers, from the first report on", arguments: 0..<20 as Range<UInt64>)
    func blocks(seed: UInt64) throws {
        var dice = SeededNumbers(seed: seed)
        let stream = try #require(BlockedStream(bytes: .random(in: 1...400_000, using: &dice)))
        let first = Int.random(in: 0...stream.blocks, using: &dice)
        let blocks = (first..<stream.blocks).map { block in
            let byte = UInt8.random(in: 0...255, using: &dice)
            return StreamBlock(number: block, bytes: ByteBuffer(repeating: byte, count: stream.length(of: block)))
        }
        var bytes = ByteBuffer()
        for block in blocks { bytes.writeGroupBlock(block.bytes) }
        var pieces: [ByteBuffer] = []
        while bytes.readableBytes > 0 {
            let length = Int.random(in: 1...min(90_000, bytes.readableBytes), using: &dice)
            if let piece = bytes.readSlice(length: length) { pieces.append(piece) }
        }
        let (found, isWhole) = try groupMessages(BlockReading(stream, from: first), pieces)
        #expect(found == blocks)
        #expect(isWhole)
    }

    @Test("many digests become frames of 256, one after the other")
    func manyDigests() throws {
        let (frames, _) = try groupMessages(SenderReading(), [written([.digests(3..<1_027)])])
        #expect(
            frames.map(\.message) == [
                .digests(3..<259), .digests(259..<515), .digests(515..<771), .digests(771..<1_027),
            ])
        #expect(frames.last?.digests?.digest(of: 1_026) == GroupSamples.numbered(1_026))
    }

    @Test("a reader can stop behind each message: the bytes after it stay")
    func oneByOne() throws {
        var bytes = written([.beat, .end])
        var decoder = GroupDecoder(SenderReading())
        let first = try decoder.next(&bytes)
        #expect(first?.message == .beat)
        #expect(bytes == written([.end]))
    }

    @Test("an unknown cause is read as another one, with or without more behind it")
    func unknownCause() throws {
        for hex in ["23 00 0000 00000001 0b", "23 00 0000 00000001 00", "23 00 0000 00000009 fe 0102030405060708"] {
            #expect(try groupMessages(SenderReading(), [bytes(ofHex: hex)]).messages.map(\.message) == [.out(.other)])
        }
    }

    @Test("unknown frames from 80 on are skipped, in each direction")
    func laterFrames() throws {
        for type in 0x80...0xFF as ClosedRange<UInt8> {
            for length in [0, 1, 300] {
                var frame = ByteBuffer(bytes: [type, 0, 0, 0])
                frame.writeInteger(UInt32(length))
                frame.writeRepeatingByte(0x20, count: length)
                func later(_ more: (inout ByteBuffer) -> Void) -> [ByteBuffer] {
                    var bytes = frame
                    more(&bytes)
                    return [bytes]
                }
                let leaving = later { $0.writeGroupMessage(MemberMessage.leaving) }
                let end = later { $0.writeGroupMessage(.end, digest: GroupSamples.numbered) }
                let report = later { $0.writeGroupReport(GroupSamples.reports[1]) }
                let block = later { $0.writeGroupBlock(GroupSamples.hello) }
                #expect(try groupMessages(MemberReading(), leaving).messages == [.leaving])
                #expect(try groupMessages(SenderReading(), end).messages.map(\.message) == [.end])
                #expect(try groupMessages(ReportReading(), report).messages == [GroupSamples.reports[1]])
                #expect(try groupMessages(BlockReading(GroupSamples.stream, from: 1), block).messages.count == 1)
            }
        }
    }

    @Test("the ordinary answer follows the messages of a member, cut at each place")
    func answer() throws {
        var answer = ByteBuffer()
        answer.writeFrame(.cancel(TransferError(.noRoom, "full")))
        answer.writeFrame(.end)
        var all = ByteBuffer()
        all.writeGroupMessage(MemberMessage.beat(has: 1))
        all.writeGroupMessage(MemberMessage.leaving)
        all.writeImmutableBuffer(answer)
        for pieces in cuts(all) {
            var decoder = GroupDecoder(MemberReading())
            var (messages, rest) = ([MemberMessage](), ByteBuffer())
            for var piece in pieces {
                while let message = try decoder.next(&piece) { messages.append(message) }
                if decoder.isOver {
                    var more = decoder.rest(&piece)
                    rest.writeBuffer(&more)
                }
            }
            #expect(messages == [.beat(has: 1), .leaving])
            #expect(rest == answer)
        }
    }

    @Test("the token and the stream of a request read back as they were written")
    func requestFields() throws {
        let token = Token(high: 0xA, low: 0xFFFF_0000_0000_0001)
        #expect(token.hex == "000000000000000affff000000000001")
        #expect(try GroupRequest.token(in: ["waft-token": token.hex]) == token)
        #expect(try GroupRequest.stream(in: ["waft-stream": "65541"]) == GroupSamples.stream)
        for text in ["", "0", "-1", "+1", " 1", "1e3", "0x1", "1152921504606846977", "99999999999999999999"] {
            #expect(throws: TransferError.self) { try GroupRequest.stream(in: ["waft-stream": text]) }
        }
        for text in ["", "0", token.hex + "0", token.hex.uppercased(), String(repeating: "g", count: 32)] {
            #expect(throws: TransferError.self) { try GroupRequest.token(in: ["waft-token": text]) }
        }
        #expect(throws: TransferError.self) { try GroupRequest.stream(in: [:]) }
        #expect(throws: TransferError.self) {
            try GroupRequest.token(in: HTTPHeaders([("waft-token", token.hex), ("waft-token", token.hex)]))
        }
    }

    @Test("the paths of a group are found, and nothing beside them")
    func paths() {
        let id = GroupID()
        for resource in [.group(id), .relay(id)] as [WaftDialect.Resource] {
            #expect(WaftDialect.Resource(path: resource.path) == resource)
        }
        for end in ["", "/", "/x", "/\(id)/", "/\(id)/x", "/\(id)/relay/", "/\(id)x", "/\(id)/../relay"] {
            #expect(WaftDialect.Resource(path: "/waft/1/groups" + end) == nil)
        }
    }
}
