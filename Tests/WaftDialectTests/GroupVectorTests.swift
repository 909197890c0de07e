import Foundation
import Groups
import NIOCore
import Testing

@testable import WaftDialect

@Suite("Vectors of groups")
struct GroupVectorTests {
    /// The messages of the protocol's example, by their directions.
    private static let sender: [SenderMessage] = [
        .place(GroupSamples.place), .digests(0..<2), .beat, .out(.unreachable), .out(.fault(.wrongCount(7))), .end,
    ]
    private static let member: [MemberMessage] = [.beat(has: 1), .trouble(.broken, link: 2), .leaving]

    /// The bytes, as anybody may write them.
    private static let hex: [Character: String] = [
        "S": """
        20 00 0000 00000085  00000003
        00000001 1111111111111111111111111111111111111111111111111111111111111111 0123456789abcdeffedcba9876543210
        00000002 2222222222222222222222222222222222222222222222222222222222222222 00112233445566778899aabbccddeeff
        238c 02  04 c0000207  06 20010db8000000000000000000000007
        21 00 0000 00000048  0000000000000000
        de2f256064a0af797747c2b97505dc0b9f3df0de4f489eac731c23ae9ca9cc31
        2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824
        22 00 0000 00000000
        23 00 0000 00000001  05
        23 00 0000 00000009  0a 0000000000000007
        24 00 0000 00000000
        """,
        "M": "22 00 0000 00000008 0000000000000001 25 00 0000 00000005 00000002 02 26 00 0000 00000000",
        "P": "27 00 0000 00000005 68656c6c6f",
        "N": "28 00 0000 00000010 0000000000000001 0000000000000000",
    ]

    private func vector(_ direction: Character) throws -> ByteBuffer {
        bytes(ofHex: try #require(Self.hex[direction]))
    }

    @Test("what is written equals the vectors, byte for byte")
    func encoding() throws {
        var (sender, member, previous, next) = (ByteBuffer(), ByteBuffer(), ByteBuffer(), ByteBuffer())
        for message in Self.sender { sender.writeGroupMessage(message, digest: GroupSamples.digest) }
        for message in Self.member { member.writeGroupMessage(message) }
        previous.writeGroupBlock(GroupSamples.hello)
        next.writeGroupReport(Report(has: 1, next: 0))
        for (direction, bytes) in [("S", sender), ("M", member), ("P", previous), ("N", next)]
            as [(Character, ByteBuffer)]
        {
            #expect(try bytes == vector(direction))
        }
    }

    @Test("the vectors are read as what they say")
    func decoding() throws {
        let frames = try groupMessages(SenderReading(), [vector("S")]).messages
        #expect(frames.map(\.message) == Self.sender)
        let digests = try #require(frames[1].digests)
        #expect([0, 1].map { digests.digest(of: $0) } == [0, 1].map(GroupSamples.digest))
        #expect(try groupMessages(MemberReading(), [vector("M")]).messages == Self.member)
        #expect(
            try groupMessages(BlockReading(GroupSamples.stream, from: 1), [vector("P")]).messages
                == [StreamBlock(number: 1, bytes: GroupSamples.hello)])
        #expect(try groupMessages(ReportReading(), [vector("N")]).messages == [Report(has: 1, next: 0)])
    }

    @Test("the protocol's own example is the vectors")
    func specification() throws {
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources/Dialects/WaftDialect/WaftDialect.docc/Protocol.md")
        let lines = try String(contentsOf: source, encoding: .utf8).split(separator: "\n")
        let start = try #require(lines.firstIndex { $0.hasPrefix("S 20 00 0000") })
        var found: [Character: String] = [:]
        for line in lines[start...].prefix(while: { $0 != "```" }) {
            let mark = try #require(line.first)
            // The words of a line stand behind three blanks.
            let digits = String(line.dropFirst().trimmingPrefix(while: { $0 == " " })).replacing(/[ ]{3}.*/, with: "")
            found[mark, default: ""] += digits + "\n"
        }
        #expect(Set(found.keys) == ["S", "M", "P", "N"])
        for (mark, hex) in found { #expect(try bytes(ofHex: hex) == vector(mark)) }
    }
}
