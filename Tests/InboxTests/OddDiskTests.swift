import Digests
import Foundation
import Glibc
import Sharing
import SystemCalls
import TestSupport
import Testing

@testable import Inbox

/// Disks that cannot do all that a Linux file system can, by programs that make them in user space. Only root can mount
/// them. A test whose program the machine does not have is skipped, and the run says so.
@Suite("An Inbox on a disk", .serialized)
struct OddDiskTests {
    private let folder = TemporaryFolder()
    private var disk: String { folder / "disk" }

    private static func has(_ program: String) -> Bool {
        ["/usr/bin/", "/usr/sbin/", "/sbin/"].contains { access($0 + program, X_OK) == 0 } && geteuid() == 0
            && access("/dev/fuse", R_OK | W_OK) == 0
    }

    /// Not by Foundation, which waits for the end of the program that serves the disk.
    private func run(_ commands: String) throws {
        try #require(system("{ \(commands); } >/dev/null 2>&1") == 0, "\(commands)")
    }

    /// Mounts a disk by `commands`, in which `$disk` is the mount point and `$back` a folder beside it.
    private func withDisk(_ commands: String, _ body: () throws -> Void) throws {
        mkdir(disk, 0o755)
        mkdir(folder / "back", 0o755)
        try run("disk='\(disk)' back='\(folder / "back")'; \(commands)")
        defer { umount2(disk, Int32(MNT_DETACH)) }
        try body()
    }

    /// Every file there counts as executable, whatever chmod says.
    private static let withoutModes = "bindfs --perms=a+rX:a+x:u+w:go-w --chmod-ignore $back $disk"

    private static let files = ["a": "1", "b/c.sh": "22", "b/d/e": String(repeating: "3", count: 70_000)]

    @Test(
        "without hard links and without a rename that refuses to replace takes files and folders, and replaces none",
        .enabled(if: has("mkfs.exfat") && has("mount.exfat-fuse"), "exfatprogs, exfat-fuse and root are needed"))
    func placing() throws {
        let mounting = """
            truncate -s 64M $back/image && mkfs.exfat $back/image && loop=$(losetup -f --show $back/image) \
            && mount.exfat-fuse $loop $disk -o umask=0022 && losetup -d $loop
            """
        try withDisk(mounting) {
            let inbox = try FileInbox(path: disk + "/Inbox", reserve: .bytes(0))
            for (text, stored) in [("first", "a.txt"), ("second", "a-2.txt")] {
                #expect(try inbox.store(try inbox.stagedFile(text), as: "a.txt").name.text == stored)
                #expect(contents(of: disk + "/Inbox/" + stored) == Array(text.utf8))
                let tree = try inbox.stagedTree()
                try tree.add(try entry("content"), text)
                #expect(try inbox.store(tree, as: "a.txt").path == disk + "/Inbox/a-\(text == "first" ? 1 : 3).txt")
            }
        }
    }

    @Test(
        "that gives every file one mode is as it arrived, and a folder can be taken from it",
        .enabled(if: has("bindfs"), "bindfs and root are needed"))
    func modes() throws {
        try withDisk(Self.withoutModes) {
            let inbox = try FileInbox(path: disk + "/Inbox", reserve: .bytes(0), memory: MemoryOfInbox())
            let staged = try inbox.stagedTree()
            #expect(!staged.keepsModes)
            try staged.add(try entry("a"), "1")
            try staged.add(try entry("b.sh", executable: true), "2")
            let digest = try staged.digest(.lasting)
            var arrival = try inbox.receiveTree(["x": "1"], as: "tree")
            arrival.stored = try inbox.store(staged, as: "notes")
            arrival.facts.digest = digest
            arrival.facts.entries = 3
            arrival.facts.size = 2
            #expect(try InboxVerification.verify(arrival, arrived: now(), inbox: inbox.path).state == .ok)
            #expect(try inbox.digest(of: arrival, .lasting) == digest)
            mkdir(folder / "out", 0o755)
            let taken = try InboxLeaving.take(arrival, inbox: inbox.path, to: folder / "out")
            #expect(taken.hasLeft && contents(of: taken.path + "/b.sh") == Array("2".utf8))
        }
    }

    @Test(
        "that keeps modes gives a folder to a disk that does not",
        .enabled(if: has("bindfs"), "bindfs and root are needed"))
    func takingThere() throws {
        try withDisk(Self.withoutModes) {
            let inbox = try FileInbox(path: folder / "Inbox", reserve: .bytes(0))
            let arrival = try inbox.receiveTree(Self.files, as: "notes")
            let taken = try InboxLeaving.take(arrival, inbox: inbox.path, to: disk)
            #expect(taken.path == disk + "/notes" && taken.hasLeft)
            #expect(contents(of: taken.path + "/b/c.sh") == Array("22".utf8))
            #expect(listing(of: disk) == ["notes"])
        }
    }
}

private final class MemoryOfInbox: InboxMemory {
    func knownInbox(at path: String) throws(JournalError) -> KnownInbox? { nil }
    func remember(_ inbox: KnownInbox, at path: String) throws(JournalError) {}
}
