import Digests
import Foundation
import Glibc
import Sharing
import TestSupport
import Testing

@testable import Inbox

/// Files with long runs of zeros, such as the disks of virtual machines.
@Suite("A file with holes")
struct HoleTests {
    private let folder = TemporaryFolder()

    private static func inbox(_ path: String) throws -> FileInbox {
        try FileInbox(path: path + "/Inbox", reserve: .bytes(0), opening: .inOneCall, placement: .byRename)
    }

    /// 20 MiB with data of some blocks at three places, the last one at the end or before the third hole.
    private static func sparse(endsInHole: Bool = true) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 20 << 20)
        for place in [0, 9 << 20 + 4_321, endsInHole ? 15 << 20 : 20 << 20 - 100_000] {
            for index in place..<(place + 100_000) { bytes[index] = UInt8(truncatingIfNeeded: index % 251 + 1) }
        }
        return bytes
    }

    private static func write(_ bytes: [UInt8], _ sizes: [Int], to staged: any StagedItem) throws {
        var (start, turn) = (0, 0)
        while start < bytes.count {
            let end = min(start + sizes[turn % sizes.count], bytes.count)
            try staged.write(Array(bytes[start..<end]))
            (start, turn) = (end, turn + 1)
        }
    }

    @Test("that is taken to another disk has them there", .enabled(if: geteuid() == 0, "needs root"))
    func taken() throws {
        let inbox = try Self.inbox(folder.path)
        let bytes = Self.sparse()
        let staged = try inbox.stage(transfer: TransferID(), item: 0, isTree: false)
        try staged.beginFile(try entry(nil, size: UInt64(bytes.count)))
        try Self.write(bytes, [262_144], to: staged)
        try staged.endFile()
        let other = TemporaryFolder(in: "/dev/shm")
        let taken = try InboxLeaving.take(
            try inbox.arrival(of: try inbox.store(staged, as: "disk.img"), kind: .file), inbox: inbox.path,
            to: other.path)
        #expect(contents(of: taken.path) == bytes)
        #expect(bytesOnDisk(taken.path) < 3 << 20)
    }

    @Test("that was sealed has them where it is taken to")
    func sealed() throws {
        let place = try SealedInbox()
        try place.unlock()
        let bytes = Self.sparse()
        let arrival = try place.receive(bytes, as: "disk.img")
        mkdir(place.folder / "out", 0o755)
        let taken = try InboxLeaving.take(
            arrival, inbox: place.path, to: place.folder / "out", keys: FileKeys(place.vault))
        #expect(contents(of: taken.path) == bytes)
        #expect(bytesOnDisk(taken.path) < 3 << 20)
    }

    private func bytesOnDisk(_ path: String) -> Int { lstatus(of: path).map { Int($0.st_blocks) * 512 } ?? .max }

    @Test(
        "has fewer blocks than bytes, and the same bytes, with a size that was announced or not",
        arguments: [true, false], ["/tmp", "/dev/shm"])
    func threeHoles(isAnnounced: Bool, place: String) throws {
        let folder = TemporaryFolder(in: place)
        let inbox = try Self.inbox(folder.path)
        for (number, endsInHole) in [true, false].enumerated() {
            let bytes = Self.sparse(endsInHole: endsInHole)
            let staged = try inbox.stage(transfer: TransferID(), item: 0, isTree: false)
            try staged.beginFile(try entry(nil, size: isAnnounced ? UInt64(bytes.count) : nil))
            try Self.write(bytes, [131_063, 262_144, 70_001], to: staged)
            try staged.endFile()
            let stored = try inbox.store(staged, as: "\(number)")
            #expect(contents(of: stored.path) == bytes)
            #expect(bytesOnDisk(stored.path) < 1 << 20)
        }
    }

    @Test("keeps every byte, however zeros and data lie in it and in the pieces that come")
    func scattered() throws {
        let inbox = try Self.inbox(folder.path)
        var random = SeededNumbers(seed: 7)
        for round in 0..<30 {
            var bytes: [UInt8] = []
            while bytes.count < 2 << 20 {
                let isZero = Bool.random(using: &random)
                let count = [1, 4_095, 65_535, 65_536, 65_537, 200_000].randomElement(using: &random) ?? 1
                bytes += [UInt8](repeating: isZero ? 0 : 7, count: count)
            }
            let sizes = (0..<8).map { _ in
                [1, 100, 65_536, 65_537, 131_063, 300_000].randomElement(using: &random) ?? 1
            }
            let staged = try inbox.stage(transfer: TransferID(), item: 0, isTree: false)
            try staged.beginFile(try entry(nil, size: round % 2 == 0 ? UInt64(bytes.count) : nil))
            try Self.write(bytes, sizes + [65_536], to: staged)
            try staged.endFile()
            let stored = try inbox.store(staged, as: "x")
            #expect(contents(of: stored.path) == bytes, "\(round)")
            // Blocks of 64 KiB that are zeros.
            let blocks = stride(from: 0, to: bytes.count - 65_535, by: 65_536)
            let holes = blocks.count { start in bytes[start..<start + 65_536].allSatisfy { $0 == 0 } }
            #expect(bytesOnDisk(stored.path) <= bytes.count - holes * 65_536 + 65_536, "\(round)")
        }
    }

    @Test("of zeros only has its size, and needs no room from 64 KiB on")
    func zeros() throws {
        let inbox = try Self.inbox(folder.path)
        for size in [0, 1, 65_535, 65_536, 65_537, 10 << 20] {
            let bytes = [UInt8](repeating: 0, count: size)
            let staged = try inbox.stage(transfer: TransferID(), item: 0, isTree: false)
            try staged.beginFile(try entry(nil, size: UInt64(size)))
            try staged.write(bytes)
            try staged.endFile()
            let stored = try inbox.store(staged, as: "x")
            #expect(contents(of: stored.path) == bytes)
            #expect(bytesOnDisk(stored.path) <= 65_536)
        }
    }

    @Test(
        "is resumed where it was cut, in a hole as well, when the receiver was killed or has kept it",
        arguments: [true, false])
    func resumed(isKilled: Bool) async throws {
        let bytes = Self.sparse()
        // In the second hole.
        let cut = 13 << 20 + 5
        if isKilled {
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String, cut = cut as Int] in
                let staged = try Self.begin(in: path, cut: cut)
                withExtendedLifetime(staged) { _ = kill(getpid(), SIGKILL) }
            }
        } else {
            try Self.begin(in: folder.path, cut: cut).keep()
        }
        let inbox = try Self.inbox(folder.path)
        var kept: [KeptFile] = []
        inbox.readKept(try Self.key(), .xxh3_128) {
            kept.append($0)
            return true
        }
        let size = try #require(kept.first?.size)
        // Bytes after the last step are lost with the program.
        #expect(isKilled ? size >= 9 << 20 && size <= cut : size == cut)
        let staged = try inbox.stage(transfer: TransferID(), item: 0, isTree: false, partial: try Self.key())
        var rest = try entry(nil, size: UInt64(bytes.count))
        rest.offset = size
        var seen: [UInt8] = []
        try staged.resumeFile(rest) { seen += $0 }
        #expect(seen == Array(bytes.prefix(Int(size))))
        try Self.write(Array(bytes[Int(size)...]), [262_144], to: staged)
        try staged.endFile()
        let stored = try inbox.store(staged, as: "x")
        #expect(contents(of: stored.path) == bytes)
        #expect(bytesOnDisk(stored.path) < 1 << 20)
    }

    private static func begin(in path: String, cut: Int) throws -> any StagedItem {
        let staged = try inbox(path).stage(
            transfer: TransferID(), item: 0, isTree: false, partial: try key())
        let bytes = sparse()
        try staged.beginFile(try entry(nil, size: UInt64(bytes.count)))
        try write(Array(bytes[..<cut]), [262_144], to: staged)
        return staged
    }

    private static func key() throws -> PartialKey {
        let item = OfferedItem(kind: .file, name: safe("x"), type: uniform("public.data"), size: 20 << 20)
        return try #require(PartialKey(item, from: .sample(1)))
    }
}
