import Digests
import Groups
import NIOCore
import Sharing
import TestSupport
import Testing

@testable import WaftDialect

@Suite("Hostile frames of groups")
struct HostileGroupTests {
    /// Memory that a decoder may take: a block, as NIO rounds it.
    private static let memory = GroupLimits.blockBytes

    /// Reads bytes until their end or their fault.
    /// - Returns: the fault; nil if there is none.
    @discardableResult
    private func fault(_ reading: some GroupReading, _ pieces: [ByteBuffer]) -> TransferError? {
        var decoder = GroupDecoder(reading)
        for var piece in pieces {
            do throws(TransferError) {
                while try decoder.next(&piece) != nil {
                    let held = decoder.heldBytes
                    #expect(held <= Self.memory)
                }
            } catch {
                return error
            }
            let held = decoder.heldBytes
            #expect(held <= Self.memory)
            if decoder.isOver { return nil }
        }
        return nil
    }

    private func refusals(_ hex: String) -> [TransferError.Code?] {
        let pieces = [bytes(ofHex: hex)]
        return [
            fault(SenderReading(), pieces)?.code, fault(MemberReading(), pieces)?.code,
            fault(BlockReading(GroupSamples.stream, from: 1), pieces)?.code, fault(ReportReading(), pieces)?.code,
        ]
    }

    @Test("no length is believed before it is checked", arguments: Array(UInt8.min...UInt8.max))
    func lengths(type: UInt8) {
        for length: UInt32 in [.max, .max - 7, 1 << 31, (1 << 20) + 1, 65_537] {
            var header = ByteBuffer(bytes: [type, 0, 0, 0])
            header.writeInteger(length)
            let faults = [
                fault(SenderReading(), [header]), fault(MemberReading(), [header]), fault(ReportReading(), [header]),
                fault(BlockReading(GroupSamples.stream, from: 0), [header]),
            ]
            // Frames of section 4 end those of the group: `FrameDecoder` checks them.
            let isAnswer = [0x06, 0x0A, 0x0B].contains(type)
            for fault in faults { #expect(fault?.code == .protocolViolation || isAnswer) }
        }
    }

    @Test("a frame of each length is taken only if its type can have it")
    func allowedLengths() {
        for type in 0x20...0x28 as ClosedRange<UInt8> {
            for length in 0...300 {
                var header = ByteBuffer(bytes: [type, 0, 0, 0])
                header.writeInteger(UInt32(length))
                func isTaken(_ reading: some GroupReading) -> Bool { fault(reading, [header]) == nil }
                let sender =
                    switch type {
                    case 0x20: (56...179).contains(length)
                    case 0x21: length >= 40
                    case 0x22, 0x24: length == 0
                    case 0x23: (1...9).contains(length)
                    default: false
                    }
                let member =
                    switch type {
                    case 0x22: length == 8
                    case 0x25: length == 5
                    case 0x26: length == 0
                    default: false
                    }
                #expect(isTaken(SenderReading()) == sender, "\(type), \(length)")
                #expect(isTaken(MemberReading()) == member, "\(type), \(length)")
                #expect(isTaken(BlockReading(GroupSamples.stream, from: 1)) == (type == 0x27 && length == 5))
                #expect(isTaken(ReportReading()) == (type == 0x28 && length == 16))
            }
        }
    }

    @Test("257 digests are too many for a frame")
    func tooManyDigests() {
        var header = ByteBuffer(bytes: [0x21, 0, 0, 0])
        header.writeInteger(UInt32(8 + 257 * 32))
        #expect(fault(SenderReading(), [header])?.code == .protocolViolation)
    }

    @Test("a block that is not the next one of the stream is refused before its bytes come")
    func blocks() {
        for (first, length) in [
            (0, 65_535), (0, 65_537), (0, 5), (1, 4), (1, 6), (1, 65_536), (2, 1), (2, 0), (3, 5), (-1, 5),
        ] {
            var header = ByteBuffer(bytes: [0x27, 0, 0, 0])
            header.writeInteger(UInt32(length))
            #expect(fault(BlockReading(GroupSamples.stream, from: first), [header])?.code == .protocolViolation)
        }
    }

    private static let neighbour = "00000001" + String(repeating: "11", count: 48)

    private static func place(_ rest: String) -> String {
        let payload = "00000001" + neighbour + rest.filter { $0 != " " }
        return "20 00 0000 000000" + String(payload.count / 2, radix: 16) + payload
    }

    @Test(
        "malformed frames are refused, in each direction",
        arguments: [
            place("00"), place(neighbour), place(neighbour + "2000"), place(neighbour + "2000 01"),
            place(neighbour + "2000 00"), place(neighbour + "2000 05" + String(repeating: "04 7f000001", count: 5)),
            place(neighbour + "2000 ff 04 7f000001"), place(neighbour + "2000 01 05 7f000001"),
            place(neighbour + "2000 01 04 7f0000"), place(neighbour + "2000 01 04 7f000001 00"),
            place(neighbour + "2000 02 04 7f000001"), place(neighbour + "2000 01 06 20010db80000000000000000000000"),
            "21 00 0000 00000029 0000000000000000" + String(repeating: "00", count: 33),
            "21 00 0000 00000028 ffffffffffffffff" + String(repeating: "00", count: 32),
            "21 00 0000 00000028 0000100000000000" + String(repeating: "00", count: 32),
            "22 00 0000 00000008 0000100000000001", "22 00 0000 00000008 8000000000000000",
            "23 00 0000 00000002 05 00", "23 00 0000 00000001 0a", "23 00 0000 00000005 0a 00000001",
            "23 00 0000 00000009 0a 0000100000000001", "25 00 0000 00000005 00000001 00",
            "25 00 0000 00000005 00000001 05", "28 00 0000 00000010 0000100000000001 0000000000000000",
            "28 00 0000 00000010 0000000000000000 ffffffffffffffff", "1f 00 0000 00000000", "29 00 0000 00000000",
            "00 00 0000 00000000", "01 00 0000 00000000", "7f 00 0000 00000000", "80 00 0000 00004001",
        ])
    func malformed(hex: String) {
        #expect(refusals(hex).allSatisfy { $0 == .protocolViolation })
    }

    @Test("a frame of another direction is refused")
    func directions() {
        for message in GroupSamples.ofSender where message != .beat {
            var bytes = ByteBuffer()
            bytes.writeGroupMessage(message, digest: GroupSamples.numbered)
            #expect(fault(MemberReading(), [bytes])?.code == .protocolViolation)
            #expect(fault(ReportReading(), [bytes])?.code == .protocolViolation)
        }
        for message in GroupSamples.ofMember {
            var bytes = ByteBuffer()
            bytes.writeGroupMessage(message)
            #expect(fault(SenderReading(), [bytes])?.code == .protocolViolation)
        }
    }

    @Test(
        "bytes that mean nothing end in a fault or in nothing, and never take more than a block",
        arguments: 0..<200 as Range<UInt64>)
    func noise(seed: UInt64) {
        var dice = SeededNumbers(seed: seed)
        for _ in 0..<20 {
            let noise = (0..<Int.random(in: 0...600, using: &dice)).map { _ in UInt8.random(in: 0...255, using: &dice) }
            // The same behind a header that may fit, cut in two.
            var frame = ByteBuffer(bytes: [UInt8.random(in: 0x1F...0x29, using: &dice), 0, 0, 0])
            let lengths = [0, 1, 5, 8, 9, 16, 40, 56, 111, 128, 179, 8_200, 65_536, noise.count]
            frame.writeInteger(UInt32(lengths.randomElement(using: &dice) ?? 0))
            frame.writeBytes(noise)
            let cut = Int.random(in: 0...frame.readableBytes, using: &dice)
            let pieces = [
                frame.getSlice(at: 0, length: cut), frame.getSlice(at: cut, length: frame.readableBytes - cut),
            ].compactMap { $0 }
            for pieces in [[ByteBuffer(bytes: noise)], pieces] {
                fault(SenderReading(), pieces)
                fault(MemberReading(), pieces)
                fault(ReportReading(), pieces)
                fault(BlockReading(GroupSamples.stream, from: Int.random(in: 0...2, using: &dice)), pieces)
            }
        }
    }

    @Test("good messages with some bytes changed are never more than they may be", arguments: 0..<200 as Range<UInt64>)
    func mutations(seed: UInt64) {
        var dice = SeededNumbers(seed: seed)
        var stream = ByteBuffer()
        for message in GroupSamples.ofSender.shuffled(using: &dice) {
            stream.writeGroupMessage(message, digest: GroupSamples.numbered)
        }
        var bytes = Array(buffer: stream)
        for _ in 0..<Int.random(in: 1...4, using: &dice) {
            let place = Int.random(in: bytes.indices, using: &dice)
            switch Int.random(in: 0..<3, using: &dice) {
            case 0: bytes[place] = .random(in: 0...255, using: &dice)
            case 1: bytes.insert(.random(in: 0...255, using: &dice), at: place)
            default: bytes.remove(at: place)
            }
        }
        var decoder = GroupDecoder(SenderReading())
        var rest = ByteBuffer(bytes: bytes)
        while let frame = try? decoder.next(&rest) {
            switch frame.message {
            case .place(let place): #expect((1...4).contains(place.next?.addresses.count ?? 1))
            case .digests(let blocks):
                #expect(!blocks.isEmpty && blocks.count <= GroupFrame.digests && blocks == frame.digests?.blocks)
            case .beat, .out, .end: break
            }
        }
    }
}
