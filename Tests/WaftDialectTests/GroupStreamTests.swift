import Digests
import Groups
import NIOCore
import Sharing
import TestSupport
import Testing

@testable import WaftDialect

@Suite("The stream of a group at its sender")
struct GroupStreamTests {
    private func verdict(_ sources: [any ItemSource]) -> Verdict { Verdict(all: .accepted, count: sources.count) }

    static func bytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
        var state = seed
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56)
        }
    }

    @Test(
        "is measured without reading, and is as long as it was measured", arguments: [0, 1, 65_536, 262_144, 3_000_001])
    func measured(size: Int) throws {
        let sources: [any ItemSource] = [
            MemorySource.file("a", Self.bytes(size), readSize: 10_000),
            MemorySource.tree("t", [.file("b", Self.bytes(70_000)), .folder("c", [.file("d", Self.bytes(size))])]),
        ]
        let stream = try #require(GroupStream(sources, verdict(sources), kept: nil))
        let blocks = stream.size.blocks
        #expect(try stream.read(below: blocks, ahead: 0))
        var again: BlockReader?
        let all = try (0..<blocks).map { try stream.block($0, again: &again).readableBytes }
        #expect(all.reduce(0, +) == Int(stream.size.bytes))
        #expect(stream.outcomes.allSatisfy { if case .sent = $0 { true } else { false } })
    }

    @Test("a block that is no longer held is read again, and is the same")
    func again() throws {
        let sources: [any ItemSource] = [MemorySource.file("a", Self.bytes(12_000_000))]
        let stream = try #require(GroupStream(sources, verdict(sources), kept: nil))
        #expect(try stream.read(below: stream.size.blocks, ahead: 0))
        var reader: BlockReader?
        for number in [0, 1, 2, 40, 7] {
            let block = try stream.block(number, again: &reader)
            #expect(stream.digest(of: number) == Digest.of(.lasting, block.readableBytesView))
            #expect(reader != nil)
        }
        _ = try stream.block(stream.size.blocks - 1, again: &reader)
        #expect(reader == nil)
    }

    @Test("the common part of kept lists is what all of them have, and the stream leaves it out")
    func kept() throws {
        let file = Self.bytes(6 << 20)
        func list(_ size: Int, wrongFrom: Int = .max) throws -> KeptList {
            let part = file[..<size].enumerated().map { $0.offset >= wrongFrom ? 0 : $0.element }
            var text = ByteBuffer()
            let exponent = Limits.keptBlockExponent
            let digests = stride(from: 0, to: size, by: 1 << exponent).map {
                Digest.of(.lasting, part[$0..<min($0 + 1 << exponent, size)])
            }
            _ = text.writeKept(
                KeptFile(
                    pathHash: KeptFile.pathHash(nil), size: UInt64(size), blockExponent: exponent, digests: digests),
                item: 0)
            return try KeptList(text, items: 1)
        }
        let block = 1 << Limits.keptBlockExponent
        let lists = [try list(5 << 20), try list(4 << 20), try list(5 << 20, wrongFrom: 3 << 20)]
        let common = try #require(KeptList.common(lists))
        #expect(common.file(nil, ofItem: 0)?.size == UInt64((3 << 20) / block * block))
        #expect(KeptList.common(lists + [nil]) == nil)
        #expect(KeptList.common([]) == nil)
        let sources: [any ItemSource] = [MemorySource.file("a", file)]
        let whole = try #require(GroupStream(sources, verdict(sources), kept: nil))
        let rest = try #require(GroupStream(sources, verdict(sources), kept: common))
        #expect(rest.size.bytes < whole.size.bytes - 2 << 20)
        #expect(try rest.read(below: rest.size.blocks, ahead: 0))
    }
}
