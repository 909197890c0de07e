import NIOCore
import Testing

@testable import HTTPChannel

@Suite("Following a body in chunks")
struct ChunkFollowerTests {
    private static let chunks = ["a", "0123456789abcdef", "\r\n", "5\r\nhello\r\n", String(repeating: "x", count: 300)]
    private static let contents = chunks.joined()
    private static let body = chunks.map { "\(String($0.utf8.count, radix: 16))\r\n\($0)\r\n" }.joined()
    private static let end = "0\r\n\r\n"

    /// The contents that a follower finds in pieces of a stream, up to the point where it stops.
    private func contents(
        of pieces: [String], _ follower: inout ChunkFollower
    ) -> (contents: String, rest: String, last: ChunkFollower.Step) {
        var contents = ""
        var last = ChunkFollower.Step.starved
        for (number, piece) in pieces.enumerated() {
            var bytes = ByteBuffer(string: piece)
            steps: while true {
                last = follower.step(&bytes)
                switch last {
                case .data(let data): contents += String(buffer: data)
                case .boundary: continue
                case .starved: break steps
                case .stopped: return (contents, String(buffer: bytes) + pieces[(number + 1)...].joined(), last)
                }
            }
        }
        return (contents, "", last)
    }

    @Test("contents are the same in any pieces", arguments: [1, 2, 3, 7, 64, 1_000])
    func pieces(size: Int) {
        let stream = Array((Self.body + Self.end).utf8)
        let pieces = stride(from: 0, to: stream.count, by: size).map {
            String(decoding: stream[$0..<min($0 + size, stream.count)], as: UTF8.self)
        }
        var follower = ChunkFollower()
        let found = contents(of: pieces, &follower)
        #expect(found.contents == Self.contents)
        #expect(found.last == .stopped)
        // The introduction and the rest together end a body for the decoder.
        #expect(follower.introduction + found.rest == Self.end)
    }

    @Test("two decoders, with the handover at any byte, find the contents that one finds")
    func handedOn() {
        let stream = Array((Self.body + Self.end).utf8)
        for cut in 0...stream.count {
            var before = ChunkFollower()
            let first = contents(of: [String(decoding: stream[..<cut], as: UTF8.self)], &before)
            var rest = ByteBuffer(string: first.rest + String(decoding: stream[cut...], as: UTF8.self))
            if before.owesLineEnd {
                var line = before
                #expect(line.step(&rest) == .boundary)
            }
            var after = ChunkFollower()
            let second = contents(of: [before.introduction, String(buffer: rest)], &after)
            #expect(first.contents + second.contents == Self.contents, "cut at \(cut)")
            #expect(after.introduction + second.rest == Self.end, "cut at \(cut)")
        }
    }

    @Test(
        "it stops before anything but a chunk with contents",
        arguments: ["0\r\n\r\n", "00\r\n", "\r\n", "g", "5;extension\r\n", "5\n", "5 \r\n", "-1\r\n", "123456789\r\n"])
    func stopped(line: String) {
        var follower = ChunkFollower()
        let found = contents(of: ["3\r\nabc\r\n" + line], &follower)
        #expect(found.contents == "abc")
        #expect(found.last == .stopped)
        // Only zeros before a size are lost.
        #expect(
            ["", "0"].contains {
                follower.introduction + found.rest + $0 == line + $0 || $0 + follower.introduction + found.rest == line
            })
    }

    @Test(
        "it stops at contents that are longer than their chunk",
        arguments: ["3\r\nabcd\r\n", "3\r\nabc\rd", "3\r\nabc\n"])
    func longer(stream: String) {
        var follower = ChunkFollower()
        let found = contents(of: [stream], &follower)
        #expect(found.contents == "abc")
        #expect(found.last == .stopped)
        #expect(follower.owesLineEnd)
    }
}
