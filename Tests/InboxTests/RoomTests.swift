import CLinuxShims
import Foundation
import Glibc
import Sharing
import SystemCalls
import TestSupport
import Testing

@testable import Inbox

@Suite("Room in the Inbox", .serialized)
struct RoomTests {
    private let folder = TemporaryFolder()

    @Test(
        "is kept by a reserve: 1 GiB or 5 % of a small disk, a size, or a share",
        arguments: [
            (.standard, 100 << 30, 1 << 30), (.standard, 10 << 30, 512 << 20), (.standard, 0, 0),
            (.bytes(5), 100, 5), (.bytes(500), 100, 500), (.percent(5), 1_000, 50), (.percent(0), 1_000, 0),
            (.percent(100), .max, .max), (.percent(500), 1_000, 1_000), (.percent(33), 101, 33),
        ] as [(DiskReserve, UInt64, UInt64)])
    func reserve(reserve: DiskReserve, size: UInt64, kept: UInt64) {
        #expect(reserve.bytes(ofFileSystem: size) == kept)
    }

    @Test(
        "is kept of the inodes in the same share as of the bytes",
        arguments: [
            (.standard, 100 << 30, 1_000_000, 10_000), (.standard, 10 << 30, 1_000, 50), (.standard, 0, 1_000, 0),
            (.bytes(0), 100, 1_000, 0), (.bytes(500), 100, 1_000, 1_000), (.percent(5), 1_000, 1_000, 50),
            (.percent(100), .max, .max, .max), (.percent(50), .max, .max, .max / 2),
        ] as [(DiskReserve, UInt64, UInt64, UInt64)])
    func reservedInodes(reserve: DiskReserve, size: UInt64, inodes: UInt64, kept: UInt64) {
        #expect(reserve.entries(of: inodes, ofFileSystem: size) == kept)
    }

    /// Mounts a small file system at `disk`.
    private func withDisk(_ body: (String) throws -> Void) throws {
        let disk = folder / "disk"
        mkdir(disk, 0o700)
        try #require(CLinuxShims_mount_tmpfs(disk, "8m") == 0, "mounting needs root")
        defer { while umount2(disk, Int32(MNT_DETACH)) == 0 {} }
        try body(disk)
    }

    private func message(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test("of a file system that became read-only is none, in one line without a path")
    func readOnly() throws {
        try withDisk { disk in
            let inbox = try FileInbox(path: disk + "/Inbox", reserve: .bytes(0))
            #expect(try inbox.freeRoom() > 1 << 20)
            let staged = try inbox.stagedFile("text")
            try staged.rest()
            let remount = UInt(MS_REMOUNT) | UInt(MS_RDONLY)
            try #require(mount("none", disk, nil, remount, nil) == 0)
            #expect(
                message { _ = try inbox.freeRoom() } == "the Inbox cannot be used: its file system is read-only")
            let line = message { try inbox.store(staged, as: "a") }
            #expect(
                line?.contains("Read-only file system") == true || line?.contains("read-only") == true, "\(line ?? "")")
            try #require(mount("none", disk, nil, UInt(MS_REMOUNT), nil) == 0)
            try inbox.store(try inbox.stagedFile("text"), as: "b")
        }
    }

    @Test(
        "of a file system that an error of its disk made read-only is none",
        .enabled(if: access("/sbin/mkfs.ext4", X_OK) == 0, "mkfs.ext4 is needed"))
    func emergency() throws {
        let disk = folder / "disk"
        mkdir(disk, 0o700)
        try run("truncate -s 8M \(disk).img && mkfs.ext4 -q -F \(disk).img")
        try run("mount -o loop,errors=remount-ro \(disk).img \(disk)")
        defer { while umount2(disk, Int32(MNT_DETACH)) == 0 {} }
        let inbox = try FileInbox(path: disk + "/Inbox", reserve: .bytes(0))
        #expect(try inbox.freeRoom() > 1 << 20)
        #expect(listing(of: disk + "/.waft-staging/Inbox") == ["lock"], "the probe leaves nothing")
        // The kernel now acts as if the disk had failed.
        try run("mount -o remount,abort \(disk)")
        #expect(message { _ = try inbox.freeRoom() } == "the Inbox cannot be used: its file system is read-only")
    }

    private func run(_ commands: String) throws {
        let shell = try Process.run(URL(fileURLWithPath: "/bin/sh"), arguments: ["-c", commands])
        shell.waitUntilExit()
        try #require(shell.terminationStatus == 0, "\(commands)")
    }

    @Test("of a lost disk is none, and an item in progress is not stored beside it")
    func unmounted() throws {
        let disk = folder / "disk"
        try withDisk { _ in
            let inbox = try FileInbox(path: disk + "/Inbox", reserve: .bytes(0))
            let staged = try inbox.stagedFile("text")
            try #require(umount2(disk, Int32(MNT_DETACH)) == 0)
            let line = "the Inbox cannot be used: it is on another disk than when the receiver started; "
            #expect(message { _ = try inbox.freeRoom() }?.hasPrefix(line) == true)
            #expect(message { try inbox.store(staged, as: "a") } != nil)
            #expect(listing(of: disk + "/Inbox").isEmpty)
        }
    }

    @Test("is not used up beyond the reserve by an item without a size")
    func unannounced() throws {
        try withDisk { disk in
            let inbox = try FileInbox(path: disk + "/Inbox", reserve: .bytes(4 << 20))
            let staged = try inbox.stage(transfer: TransferID(), item: 0, isTree: false)
            try staged.beginFile(try entry(nil))
            let chunk = [UInt8](repeating: 7, count: 256 << 10)
            let fault = #expect(throws: TransferError.self) { for _ in 0..<64 { try staged.write(chunk) } }
            #expect(fault?.code == .noRoom)
            #expect(try DiskRoom.free(onFileSystemOf: try #require(inbox.staging).folder.raw) >= 2 << 20)
            staged.discard()
        }
    }

    @Test("that is filled to the last byte beside the reserve is enough")
    func exactly() throws {
        try withDisk { disk in
            let inbox = try FileInbox(path: disk + "/Inbox", reserve: .bytes(1 << 20))
            let staged = try inbox.stage(transfer: TransferID(), item: 0, isTree: false)
            var left = Int(try inbox.freeRoom())
            try staged.beginFile(try entry(nil, size: UInt64(left)))
            let chunk = [UInt8](repeating: 7, count: 256 << 10)
            while left > 0 {
                try staged.write(Array(chunk.prefix(left)))
                left -= min(left, chunk.count)
            }
            #expect(try inbox.freeRoom() == 0)
            try staged.endFile()
            try inbox.store(staged, as: "all")
            #expect(listing(of: disk + "/Inbox") == ["all"])
        }
    }

    @Test("an item whose name is taken is not stored if conflicts are skipped, and the existing item stays")
    func skip() throws {
        let inbox = try FileInbox(path: folder / "Inbox", reserve: .bytes(0), conflict: .skip)
        try inbox.store(try inbox.stagedFile("first"), as: "a.txt")
        #expect(inbox.holds(try name("a.txt"), in: nil))
        #expect(!inbox.holds(try name("b.txt"), in: nil))
        let line = message { try inbox.store(try inbox.stagedFile("second"), as: "a.txt") }
        #expect(line == "cannot store a.txt: the name exists already")
        #expect(contents(of: folder / "Inbox/a.txt") == Array("first".utf8))
        #expect(listing(of: folder / "Inbox") == ["a.txt"])
        #expect(listing(of: folder / ".waft-staging/Inbox") == ["lock"])
        mkdir(folder / "Inbox/Photos", 0o755)
        makeFile(folder / "Inbox/Photos/p", "")
        symlink("/", folder / "Inbox/way")
        #expect(inbox.holds(try name("p"), in: try place("Photos")))
        #expect(!inbox.holds(try name("p"), in: nil))
        #expect(!inbox.holds(try name("etc"), in: try place("way")))
        #expect(inbox.holds(try name("way"), in: nil))
    }
}
