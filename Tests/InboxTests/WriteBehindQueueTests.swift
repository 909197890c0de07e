import CLinuxShims
import Foundation
import Glibc
import Sharing
import Synchronization
import TestSupport
import Testing

@testable import Inbox

@Suite("Small files of a tree, which a second thread writes", .serialized)
struct WriteBehindQueueTests {
    private let folder = TemporaryFolder()

    private func inbox(_ path: String? = nil) throws -> FileInbox {
        try FileInbox(path: path ?? folder / "Inbox", reserve: .bytes(0), opening: .inOneCall, placement: .byRename)
    }

    private func bytes(_ count: Int, of number: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number) }
    }

    private func add(_ path: String, _ bytes: [UInt8], to tree: any StagedItem, announced: Int? = nil) throws {
        let time = Timestamp(seconds: 1_234_567_890, nanoseconds: 0)
        try tree.beginFile(try entry(path, size: UInt64(announced ?? bytes.count), modified: time))
        // Two pieces, because a frame may end anywhere.
        try tree.write(Array(bytes.prefix(bytes.count / 2)))
        try tree.write(Array(bytes.dropFirst(bytes.count / 2)))
        try tree.endFile()
    }

    @Test("come whole, with their times, whatever their size and their number", arguments: [1, 7, 8, 100])
    func whole(count: Int) throws {
        let most = WriteBehindQueue.maximumBytes
        let sizes = [0, 1, 1_000, most - 1, most, most + 1, 3 * most]
        let inbox = try inbox()
        let tree = try inbox.stagedTree()
        for number in 0..<count { try add("f\(number)", bytes(sizes[number % 7], of: number), to: tree) }
        try tree.closeFolder(nil, modified: nil)
        let path = try inbox.store(tree, as: "tree").path
        #expect(listing(of: path).count == count)
        for number in 0..<count {
            #expect(contents(of: "\(path)/f\(number)") == bytes(sizes[number % 7], of: number))
            #expect(lstatus(of: "\(path)/f\(number)")?.st_mtim.tv_sec == 1_234_567_890)
            #expect(mode(of: "\(path)/f\(number)") == 0o444 & ~currentUmask)
        }
        #expect(openDescriptors(below: path) == 0)
    }

    @Test("are written directly when they grow beyond their announced size")
    func grown() throws {
        let inbox = try inbox()
        let tree = try inbox.stagedTree()
        let most = bytes(3 * WriteBehindQueue.maximumBytes, of: 1)
        try add("grown", most, to: tree, announced: 10)
        let path = try inbox.store(tree, as: "tree").path
        #expect(contents(of: path + "/grown") == most)
    }

    @Test("of several trees that come at the same time do not get mixed up")
    func several() async throws {
        let inbox = try inbox()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<6 {
                group.addTask {
                    let tree = try inbox.stagedTree()
                    for file in 0..<200 { try add("f\(file)", bytes(2_000, of: number * 7 + file), to: tree) }
                    try inbox.store(tree, as: "tree-\(number)")
                }
            }
            try await group.waitForAll()
        }
        for number in 0..<6 {
            for file in 0..<200 {
                let path = folder / "Inbox/tree-\(number)/f\(file)"
                #expect(contents(of: path) == bytes(2_000, of: number * 7 + file), "\(path)")
            }
        }
    }

    @Test("end the tree with one line when the disk is full, and leave nothing", arguments: [20, 4_000])
    func full(count: Int) throws {
        let disk = folder / "disk"
        mkdir(disk, 0o700)
        try #require(CLinuxShims_mount_tmpfs(disk, "4m") == 0, "mounting needs root")
        defer { while umount2(disk, Int32(MNT_DETACH)) == 0 {} }
        let inbox = try inbox(disk + "/Inbox")
        // So that even the last few files do not fit.
        let filler = try FullDisk(disk, leaving: 64 << 10)
        let tree = try inbox.stagedTree()
        let fault = #expect(throws: TransferError.self) {
            for number in 0..<count { try add("f\(number)", bytes(16_000, of: number), to: tree) }
            try inbox.store(tree, as: "tree")
        }
        #expect(fault?.code == .noRoom)
        #expect(fault?.description.contains("cannot write f") == true, "\(fault?.description ?? "")")
        tree.discard()
        #expect(listing(of: disk + "/Inbox") == [])
        #expect(listing(of: disk + "/.waft-staging/Inbox") == ["lock"])
        #expect(openDescriptors(below: disk + "/.waft-staging/Inbox/0") == 0)
        filler.remove()
        try inbox.store(try inbox.stagedFile("text"), as: "b")
    }

    @Test("are not written, and take no room, if the tree is discarded before", arguments: [3, 50])
    func discarded(count: Int) throws {
        let askedForRoom = Mutex(false)
        let path = folder / "small"
        let behind = WriteBehindQueue {
            askedForRoom.withLock { $0 = true }
            return false
        }
        behind.abandon()
        for number in 0..<count {
            // A disk that is always full.
            let descriptor = open("/dev/full", O_WRONLY | O_CLOEXEC)
            try #require(descriptor >= 0)
            try behind.add(
                .init(
                    descriptor: descriptor, entry: try entry("f\(number)", size: 1), displayPath: path, contents: [1]))
        }
        behind.abandon()
        #expect(askedForRoom.withLock { $0 } == false)
        #expect(listing(of: "/proc/self/fd").allSatisfy { readLink("/proc/self/fd/" + $0) != "/dev/full" })
    }

    private func readLink(_ path: String) -> String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: path)
    }

    @Test("are all on the disk if the tree is kept for resuming", arguments: [3, 50])
    func kept(count: Int) throws {
        let inbox = try inbox()
        let item = OfferedItem(kind: .tree, name: safe("tree"), type: uniform("public.folder"), size: 1_000_000)
        let key = try #require(PartialKey(item, from: .sample(1)))
        let tree = try inbox.stage(transfer: TransferID(), item: 0, isTree: true, partial: key)
        for number in 0..<count { try add("f\(number)", bytes(1_000, of: number), to: tree) }
        try tree.beginFile(try entry("cut", size: 1_000))
        try tree.write(bytes(500, of: 1))
        tree.keep()
        let staging = folder / ".waft-staging/Inbox/"
        let name = try #require(listing(of: staging).first { $0.hasPrefix("p-") })
        for number in 0..<count {
            #expect(contents(of: "\(staging)\(name)/f\(number)") == bytes(1_000, of: number))
        }
        #expect(openDescriptors(below: staging + name) == 0)
    }
}

/// A file that fills a small disk up to a remainder.
private struct FullDisk {
    private let path: String

    init(_ disk: String, leaving bytes: Int) throws {
        path = disk + "/filler"
        var status = statvfs()
        try #require(statvfs(disk, &status) == 0)
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        try #require(file >= 0)
        defer { close(file) }
        try #require(posix_fallocate(file, 0, off_t(Int(status.f_bavail * status.f_bsize) - bytes)) == 0)
    }

    func remove() { unlink(path) }
}
