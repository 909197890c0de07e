import CLinuxShims
import Glibc
import Sharing
import TestSupport
import Testing

@testable import Inbox

@Suite("A staged file")
struct StagedFileTests {
    private let folder = TemporaryFolder()

    private func inbox() throws -> FileInbox { try FileInbox(path: folder / "Inbox", reserve: .bytes(0)) }

    @Test(
        "is read-only for everybody less the umask, and executable only where the sender's was",
        arguments: [false, true])
    func modes(executable: Bool) throws {
        let inbox = try inbox()
        let stored = try inbox.store(try inbox.stagedFile("x", executable: executable), as: "x")
        #expect(mode(of: stored.path) == (executable ? 0o555 : 0o444) & ~currentUmask)
    }

    @Test("and trees respect the umask, whatever it is")
    func umaskTakenAway() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder()
            for (mask, file, program, directory) in [
                (0o000, 0o444, 0o555, 0o755), (0o027, 0o440, 0o550, 0o750), (0o077, 0o400, 0o500, 0o700),
            ] as [(mode_t, mode_t, mode_t, mode_t)] {
                umask(mask)
                let inbox = try FileInbox(path: folder / "\(mask)/Inbox")
                let plain = try inbox.store(try inbox.stagedFile("x"), as: "plain").path
                let executable = try inbox.store(try inbox.stagedFile("x", executable: true), as: "program").path
                let tree = try inbox.stagedTree()
                try tree.makeFolder(try place("a"))
                try tree.add(try entry("a/b"), "b")
                let path = try inbox.store(tree, as: "tree").path
                #expect(mode(of: plain) == file)
                #expect(mode(of: executable) == program)
                #expect(mode(of: path) == directory)
                #expect(mode(of: path + "/a") == directory)
                #expect(mode(of: path + "/a/b") == file)
                #expect(mode(of: folder / "\(mask)/.waft-staging") == 0o700)
            }
        }
    }

    @Test("has the time of the sender's file, to the nanosecond")
    func times() throws {
        let inbox = try inbox()
        let modified = Timestamp(seconds: 1_000_000_000, nanoseconds: 123_456_789)
        let stored = try inbox.store(try inbox.stagedFile("x", modified: modified), as: "x")
        let status = try #require(lstatus(of: stored.path))
        #expect(status.st_mtim.tv_sec == 1_000_000_000)
        #expect(status.st_mtim.tv_nsec == 123_456_789)
    }

    @Test(
        "is stored though its time is none that a disk can keep",
        arguments: [Int64.min, -1 << 40, -1, 1 << 40, Int64.max]
    )
    func hostileTimes(seconds: Int64) throws {
        let inbox = try inbox()
        var modified = Timestamp(seconds: seconds, nanoseconds: 0)
        modified.nanoseconds = .max
        let stored = try inbox.store(try inbox.stagedFile("x", modified: modified), as: "x")
        #expect(contents(of: stored.path) == [0x78])
    }

    @Test("keeps every byte of many writes of uneven size")
    func manyWrites() throws {
        let inbox = try inbox()
        let staged = try inbox.stage(transfer: TransferID(), item: 0, isTree: false)
        var expected: [UInt8] = []
        try staged.beginFile(try entry(nil, size: nil))
        for size in [1, 0, 4_095, 262_144, 3, 1_000_000, 65_537] {
            let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ size) }
            try staged.write(bytes)
            expected += bytes
        }
        try staged.endFile()
        let stored = try inbox.store(staged, as: "x")
        #expect(contents(of: stored.path) == expected)
    }

    @Test("larger than the step in which it is sent to the disk is whole")
    func largeFile() throws {
        let inbox = try inbox()
        let staged = try inbox.stage(transfer: TransferID(), item: 0, isTree: false)
        let chunk = (0..<262_144).map { UInt8(truncatingIfNeeded: $0 / 7) }
        try staged.beginFile(try entry(nil, size: 80 * 262_144))
        for _ in 0..<80 { try staged.write(chunk) }
        try staged.endFile()
        let stored = try inbox.store(staged, as: "x")
        let bytes = try #require(contents(of: stored.path))
        #expect(bytes.count == 80 * 262_144)
        #expect(bytes[(79 * 262_144)...].elementsEqual(chunk))
    }

    @Test("that ends early gives back the room that was put aside for it")
    func endsEarly() throws {
        let inbox = try inbox()
        let staged = try inbox.stage(transfer: TransferID(), item: 0, isTree: false)
        try staged.beginFile(try entry(nil, size: 64 << 20))
        try staged.write([1, 2, 3])
        try staged.endFile()
        let status = try #require(lstatus(of: try inbox.store(staged, as: "x").path))
        #expect(status.st_size == 3)
        #expect(status.st_blocks * 512 < 1 << 20)
    }

    @Test(
        "of a size that no disk has is refused for want of room, and leaves nothing",
        arguments: [1 << 60, 1 << 62, 1 << 63, UInt64.max, UInt64.max - 1]
    )
    func hostileSizes(size: UInt64) throws {
        let inbox = try inbox()
        let staged = try inbox.stage(transfer: TransferID(), item: 0, isTree: false)
        #expect(faultCode { try staged.beginFile(try entry(nil, size: size)) } == .noRoom)
        #expect(listing(of: folder / ".waft-staging/Inbox") == ["lock"])
        let tree = try inbox.stagedTree()
        #expect(faultCode { try tree.beginFile(try entry("a", size: size)) } == .noRoom)
        #expect(everything(below: folder / ".waft-staging/Inbox").filter { $0.hasSuffix("/a") }.isEmpty)
    }

    @Test("of 2^32 bytes is begun if there is room for it, and takes none once it is discarded")
    func fourGibibytes() throws {
        let inbox = try inbox()
        let free = try inbox.freeRoom()
        let staged = try inbox.stage(transfer: TransferID(), item: 0, isTree: false)
        if free > 1 << 33 {
            try staged.beginFile(try entry(nil, size: 1 << 32))
        } else {
            #expect(faultCode { try staged.beginFile(try entry(nil, size: 1 << 32)) } == .noRoom)
        }
        staged.discard()
        #expect(listing(of: folder / ".waft-staging/Inbox") == ["lock"])
    }

    @Test(
        "that does not fit ends with the figures, whether its size was known or not, and the next one that fits is stored"
    )
    func fullDisk() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder()
            try inPrivateMounts {
                mkdir(folder / "disk", 0o700)
                #expect(CLinuxShims_mount_tmpfs(folder / "disk", "8m") == 0)
                defer { umount2(folder / "disk", Int32(MNT_DETACH)) }
                let inbox = try FileInbox(path: folder / "disk/Inbox", reserve: .bytes(1 << 20))
                let room = try inbox.freeRoom()
                #expect(room > 6 << 20 && room <= 7 << 20)

                let known = try inbox.stage(transfer: TransferID(), item: 0, isTree: false)
                let fault = #expect(throws: TransferError.self) { try known.beginFile(try entry(nil, size: 9_000_000)) }
                #expect(fault?.code == .noRoom)
                #expect(
                    fault?.message == "cannot store the file: it needs 9.0 MB and the disk has 7.3 MB free; "
                        + "make room and send it again")

                let unknown = try inbox.stage(transfer: TransferID(), item: 1, isTree: false)
                try unknown.beginFile(try entry(nil))
                let chunk = [UInt8](repeating: 7, count: 262_144)
                let full = #expect(throws: TransferError.self) { for _ in 0..<64 { try unknown.write(chunk) } }
                #expect(full?.code == .noRoom)
                // The message states the room that was left when the check failed.
                let words =
                    /cannot write the file: the rest of the disk, \d+\.\d [kM]B, is kept free; make room and send it again/
                #expect(full?.message.wholeMatch(of: words) != nil, "\(full?.message ?? "")")
                unknown.discard()

                let small = try inbox.stage(transfer: TransferID(), item: 2, isTree: false)
                try small.beginFile(try entry(nil, size: 5 << 20))
                for _ in 0..<20 { try small.write(chunk) }
                try small.endFile()
                try inbox.store(small, as: "fits")
                #expect(try inbox.freeRoom() < 2 << 20)
                #expect(listing(of: folder / "disk/Inbox") == ["fits"])
                #expect(listing(of: folder / "disk/.waft-staging/Inbox") == ["lock"])
            }
        }
    }

    @Test("on a file system without names left ends for want of room")
    func noInodes() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder()
            try inPrivateMounts {
                mkdir(folder / "disk", 0o700)
                #expect(CLinuxShims_mount_tmpfs(folder / "disk", "8m,nr_inodes=20") == 0)
                defer { umount2(folder / "disk", Int32(MNT_DETACH)) }
                let inbox = try FileInbox(path: folder / "disk/Inbox")
                let tree = try inbox.stagedTree()
                let fault = #expect(throws: TransferError.self) {
                    for number in 0..<40 { try tree.add(try entry("\(number)"), "x") }
                }
                #expect(fault?.code == .noRoom)
                tree.discard()
                #expect(listing(of: folder / "disk/.waft-staging/Inbox") == ["lock"])
            }
        }
    }

    @Test("begun in the middle of another, or written to before it is begun, is a fault and no crash")
    func wrongOrder() throws {
        let inbox = try inbox()
        let tree = try inbox.stagedTree()
        #expect(faultCode { try tree.write([1]) } == .unexpected)
        #expect(faultCode { try tree.endFile() } == .unexpected)
        try tree.beginFile(try entry("a"))
        #expect(faultCode { try tree.beginFile(try entry("b")) } == .unexpected)
        #expect(faultCode { try tree.makeFolder(try place("c")) } == .unexpected)
        #expect(faultCode { try inbox.store(tree, as: "tree") } == .unexpected)
        #expect(listing(of: folder / "Inbox").isEmpty)
        #expect(listing(of: folder / ".waft-staging/Inbox") == ["lock"])
    }

    @Test("that is the item has no path and is alone, and files of a tree have paths")
    func wrongKind() throws {
        let inbox = try inbox()
        let sole = try inbox.stage(transfer: TransferID(), item: 0, isTree: false)
        #expect(faultCode { try sole.beginFile(try entry("a")) } == .unsafeName)
        #expect(faultCode { try sole.makeFolder(try place("a")) } == .unsafeName)
        #expect(faultCode { try inbox.store(sole, as: "x") } == .unexpected)
        let twice = try inbox.stagedFile("x")
        #expect(faultCode { try twice.add(try entry(nil), "y") } != nil)
        let tree = try inbox.stagedTree()
        #expect(faultCode { try tree.beginFile(try entry(nil)) } == .unsafeName)
    }

    @Test("holds no descriptor while it waits for the commit, and two while it is written")
    func descriptors() throws {
        let inbox = try inbox()
        let before = openDescriptors(below: folder.path)
        var items: [any StagedItem] = []
        for _ in 0..<50 {
            let file = try inbox.stagedFile("x")
            try file.rest()
            items.append(file)
        }
        for _ in 0..<50 {
            let tree = try inbox.stagedTree()
            try tree.makeFolder(try place("a"))
            try tree.add(try entry("a/b"), "b")
            try tree.closeFolder(nil, modified: nil)
            items.append(tree)
        }
        #expect(openDescriptors(below: folder.path) == before)
        let tree = try inbox.stagedTree()
        try tree.beginFile(try entry("a"))
        #expect(openDescriptors(below: folder.path) == before + 2)
    }
}
