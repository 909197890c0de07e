import Digests
import Foundation
import NIOCore
import Sharing
import TestSupport
import Testing

@testable import WaftDialect

/// Collects what a decoder finds; data of one frame or many is joined.
final class FrameCollector: FrameSink {
    enum Found: Equatable {
        case frame(Frame)
        case data([UInt8])
    }

    private(set) var found: [Found] = []
    private(set) var dataBytes = 0

    func receive(_ frame: Frame) throws(TransferError) {
        found.append(.frame(frame))
    }

    func receive(data: UnsafeRawBufferPointer) throws(TransferError) {
        #expect(!data.isEmpty)
        dataBytes += data.count
        if case .data(let before)? = found.last {
            found[found.count - 1] = .data(before + data)
        } else {
            found.append(.data(Array(data)))
        }
    }
}

/// Decodes a stream given in pieces.
/// - Returns: the frames, and whether the stream could end there.
func decode(_ pieces: [ByteBuffer], digest: DigestAlgorithm = .xxh3_128) throws -> ([FrameCollector.Found], Bool) {
    var decoder = FrameDecoder(digest: digest)
    let collector = FrameCollector()
    for piece in pieces { try decoder.decode(piece, into: collector) }
    return (collector.found, decoder.isBetweenFrames)
}

/// The bytes of lines in hexadecimal with comments.
func bytes(ofHex text: some StringProtocol) -> ByteBuffer {
    var buffer = ByteBuffer()
    for line in text.split(separator: "\n") {
        let digits = String(line.prefix { $0 != "#" }.filter { !$0.isWhitespace })
        var rest = digits[...]
        while let byte = UInt8(rest.prefix(2), radix: 16), rest.count >= 2 {
            buffer.writeInteger(byte)
            rest = rest.dropFirst(2)
        }
        precondition(rest.isEmpty, "not hexadecimal: \(line)")
    }
    return buffer
}

@Suite("Vectors of the contents stream")
struct FrameVectorTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

    private func vector(_ name: String) throws -> ByteBuffer {
        bytes(ofHex: try String(contentsOf: Self.folder.appending(path: "Vectors/\(name).hex"), encoding: .utf8))
    }

    private func frames(_ name: String) throws -> [FrameCollector.Found] {
        let (found, isWhole) = try decode([vector(name)])
        #expect(isWhole)
        return found
    }

    @Test("a text")
    func text() throws {
        let hello = Array("hello".utf8)
        let digest = Digest.of(.xxh3_128, hello)
        #expect(
            try frames("text") == [
                .frame(.item(0)), .frame(.file(FileEntry(path: nil, executable: false, modified: nil, size: 5))),
                .data(hello), .frame(.fileEnd(digest)), .frame(.itemEnd(digest)), .frame(.end),
            ])
    }

    @Test("a tree")
    func tree() throws {
        let folder = try SafeRelativePath("d")
        let file = try SafeRelativePath("d/x")
        let link = try SafeRelativePath("l")
        let abc = Array("abc".utf8)
        let modified = Timestamp(seconds: -1, nanoseconds: 500_000_000)
        let any = try Digest(parsing: "xxh3-128:00112233445566778899aabbccddeeff")
        #expect(
            try frames("tree") == [
                .frame(.item(7)), .frame(.folder(folder)),
                .frame(.file(FileEntry(path: file, executable: true, modified: modified, size: 3))), .data(abc),
                .frame(.fileEnd(.of(.xxh3_128, abc))),
                .frame(.folderClosed(folder, modified: Timestamp(seconds: 1_705_758_191, nanoseconds: 1))),
                .frame(.link(link, target: try SafeLinkTarget("d/x", of: link))),
                .frame(.folderClosed(nil, modified: Timestamp(seconds: 0, nanoseconds: 0))), .frame(.itemEnd(any)),
                .frame(.end),
            ])
    }

    @Test("an abandoned item and a cancel")
    func abandoned() throws {
        #expect(
            try frames("abandoned") == [
                .frame(.item(0)), .frame(.file(FileEntry(path: nil, executable: false, modified: nil, size: nil))),
                .data(Array("a".utf8)), .frame(.itemAbandoned(0, TransferError(.changed, "hi"))),
                .frame(.cancel(TransferError(.cancelled, "bye"))),
            ])
    }

    @Test("unknown frames are ignored")
    func unknown() throws {
        #expect(
            try frames("unknown") == [.frame(.item(3)), .frame(.folder(try SafeRelativePath("d"))), .frame(.end)])
    }

    @Test("written frames equal the vectors, byte for byte", arguments: ["text", "tree", "abandoned"])
    func encoding(name: String) throws {
        var written = ByteBuffer()
        for found in try frames(name) {
            switch found {
            case .frame(let frame):
                written.writeFrame(frame)
            case .data(let bytes):
                // The tree's data is in two frames, to show that it may be.
                for piece in name == "tree" ? [bytes[..<1], bytes[1...]] : [bytes[...]] {
                    _ = written.writeDataFrame(capacity: piece.count) { buffer in
                        buffer.copyBytes(from: piece)
                        return piece.count
                    }
                }
            }
        }
        #expect(try written == vector(name))
    }

    @Test("the protocol's own example is the vector")
    func specification() throws {
        let source = Self.folder.deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Sources/Dialects/WaftDialect/WaftDialect.docc/Protocol.md")
        let example = try String(contentsOf: source, encoding: .utf8).split(separator: "\n")
            .filter { $0.wholeMatch(of: /\> [0-9a-f]{2} 00 0000 .*/) != nil }
            .map { $0.dropFirst(2).replacing(/[ ]{3}.*/, with: "") }
        #expect(try bytes(ofHex: example.joined(separator: "\n")) == vector("text"))
    }
}
