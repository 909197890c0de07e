import CLinuxShims
import Foundation
import Glibc
import Sharing
import TestSupport
import Testing

@testable import Inbox

@Suite("Staging")
struct StagingTests {
    private let folder = TemporaryFolder()

    @Test("a second receiver of an Inbox is refused with the number of the first one's process")
    func locked() throws {
        let first = try FileInbox(path: folder / "Inbox")
        let error = #expect(throws: InboxError.self) { try FileInbox(path: folder / "Inbox") }
        #expect(error?.isInUse == true)
        #expect(
            error?.message == "the Inbox \(folder / "Inbox") is in use by another receiver (process \(getpid())): "
                + "stop that one, or use another Inbox")
        withExtendedLifetime(first) {}
    }

    @Test("a receiver of the same Inbox by another path is a second one too")
    func lockedByOtherPath() throws {
        let first = try FileInbox(path: folder / "Inbox")
        symlink("Inbox", folder / "link")
        let error = #expect(throws: InboxError.self) { try FileInbox(path: folder / "link") }
        #expect(error?.isInUse == true)
        withExtendedLifetime(first) {}
    }

    @Test("an Inbox can be used again as soon as the first receiver is gone")
    func unlocked() throws {
        do { _ = try FileInbox(path: folder / "Inbox") }
        _ = try FileInbox(path: folder / "Inbox")
    }

    @Test("an item that outlives its receiver keeps the Inbox from being swept")
    func itemKeepsLock() throws {
        var staged: (any StagedItem)?
        do {
            let inbox = try FileInbox(path: folder / "Inbox")
            staged = try inbox.stagedFile("x")
        }
        #expect(throws: InboxError.self) { try FileInbox(path: folder / "Inbox") }
        staged?.discard()
        staged = nil
        _ = try FileInbox(path: folder / "Inbox")
    }

    @Test("Inboxes side by side do not get in each other's way")
    func sideBySide() throws {
        let first = try FileInbox(path: folder / "A")
        let staged = try first.stagedFile("a")
        let second = try FileInbox(path: folder / "B")
        try second.store(try second.stagedFile("b"), as: "x")
        try first.store(staged, as: "x")
        #expect(contents(of: folder / "A/x") == Array("a".utf8))
        #expect(contents(of: folder / "B/x") == Array("b".utf8))
    }

    @Test("the remains of a crash are removed at the next start, and nothing that their links point to")
    func sweep() throws {
        do { _ = try FileInbox(path: folder / "Inbox") }
        let staging = folder / ".waft-staging/Inbox"
        mkdir(folder / "outside", 0o755)
        makeFile(folder / "outside/precious", "precious")
        makeFile(staging + "/half", "half")
        symlink(folder / "outside", staging + "/link")
        mkdir(staging + "/tree", 0o755)
        mkdir(staging + "/tree/inner", 0o755)
        symlink(folder / "outside", staging + "/tree/inner/link")
        symlink(folder / "outside/precious", staging + "/tree/file-link")
        makeFile(staging + "/tree/inner/file")
        mkfifo(staging + "/tree/pipe", 0o600)
        // The leftovers of an interrupted sweep.
        mkdir(staging + "/removed.1", 0o755)
        makeFile(staging + "/removed.1/x")
        mkdir(staging + "/removed.7", 0o755)
        mkdir(staging + "/removed.7/y", 0o755)
        makeFile(staging + "/removed.7/y/z")
        _ = try FileInbox(path: folder / "Inbox")
        #expect(listing(of: staging) == ["lock"])
        #expect(contents(of: folder / "outside/precious") == Array("precious".utf8))
    }

    @Test("backup programs exclude the staging folder, also after a crash in between")
    func cacheTag() throws {
        let tag = folder / ".waft-staging/CACHEDIR.TAG"
        for _ in 0..<2 {
            do { _ = try FileInbox(path: folder / "Inbox") }
            let signature = Array("Signature: 8a477f597d28d172789f06886806bc55\n".utf8)
            #expect(contents(of: tag)?.starts(with: signature) == true)
            // As after a crash.
            truncate(tag, 0)
        }
        unlink(tag)
        symlink(folder / "elsewhere", tag)
        _ = try FileInbox(path: folder / "Inbox")
        #expect(!FileManager.default.fileExists(atPath: folder / "elsewhere"))
    }

    @Test("a tree of any depth is removed, with one folder open at a time")
    func sweepsDeepTree() throws {
        do { _ = try FileInbox(path: folder / "Inbox") }
        let staging = folder / ".waft-staging/Inbox"
        // Deeper than the maximum length of a path, so made step by step.
        var current = open(staging, O_RDONLY | O_DIRECTORY)
        for level in 0..<2_000 {
            mkdirat(current, "level \(level) of a very deep tree", 0o755)
            let next = openat(current, "level \(level) of a very deep tree", O_RDONLY | O_DIRECTORY)
            close(openat(next, "file", O_CREAT | O_WRONLY, 0o600))
            close(current)
            current = next
        }
        close(current)
        let names = listing(of: staging)
        #expect(names.count == 2)
        _ = try FileInbox(path: folder / "Inbox")
        #expect(listing(of: staging) == ["lock"])
    }

    @Test("a staging folder that is a link or another user's is not used: the Inbox holds its own")
    func staleStaging() throws {
        mkdir(folder / "elsewhere", 0o755)
        symlink("elsewhere", folder / ".waft-staging")
        let inbox = try FileInbox(path: folder / "Inbox")
        try inbox.store(try inbox.stagedFile("x"), as: "x")
        #expect(listing(of: folder / "elsewhere").isEmpty)
        #expect(listing(of: folder / "Inbox") == [".waft-staging", "x"])

        mkdir(folder / "second", 0o755)
        mkdir(folder / "second/.waft-staging", 0o777)
        chown(folder / "second/.waft-staging", 12_345, 12_345)
        _ = try FileInbox(path: folder / "second/Inbox")
        #expect(listing(of: folder / "second/.waft-staging").isEmpty)
        #expect(listing(of: folder / "second/Inbox") == [".waft-staging"])
    }

    @Test("an Inbox that is a file system of its own is staged in the Inbox, out of sight of its listing")
    func ownFileSystem() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder()
            try inPrivateMounts {
                mkdir(folder / "Inbox", 0o700)
                #expect(CLinuxShims_mount_tmpfs(folder / "Inbox", "8m") == 0)
                defer { umount2(folder / "Inbox", 0) }
                try storeInInboxItself(folder)
            }
        }
    }

    @Test("an Inbox that is a bind mount of a folder on the same file system is staged in the Inbox")
    func bindMount() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder()
            try inPrivateMounts {
                mkdir(folder / "source", 0o700)
                mkdir(folder / "Inbox", 0o700)
                #expect(CLinuxShims_mount_bind(folder / "source", folder / "Inbox") == 0)
                defer { umount2(folder / "Inbox", 0) }
                try storeInInboxItself(folder)
            }
        }
    }

    @Test("an Inbox in a folder where the user may not write is staged in the Inbox")
    func parentNotWritable() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder()
            mkdir(folder / "Inbox", 0o700)
            chmod(folder.path, 0o755)
            chown(folder / "Inbox", 65_534, 65_534)
            #expect(seteuid(65_534) == 0)
            try storeInInboxItself(folder)
            #expect(seteuid(0) == 0)
        }
    }

    @Test("an Inbox in which the user may not write is refused")
    func inboxNotWritable() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder()
            mkdir(folder / "Inbox", 0o755)
            chmod(folder.path, 0o755)
            #expect(seteuid(65_534) == 0)
            let error = #expect(throws: InboxError.self) { try FileInbox(path: folder / "Inbox") }
            #expect(error?.message.contains("Permission denied") == true)
            #expect(throws: InboxError.self) { try FileInbox(path: folder / "new/Inbox") }
            #expect(seteuid(0) == 0)
        }
    }
}

/// Runs `body` in a separate process, whose mounts no other process sees. Fails if that is not allowed.
func inPrivateMounts(_ body: () throws -> Void) throws {
    // Applies to this thread only, so `body` must not wait for anything.
    try #require(CLinuxShims_unshare_mounts() == 0, "private mounts need root: errno \(errno)")
    try #require(CLinuxShims_make_mounts_private() == 0)
    try body()
}

private func storeInInboxItself(_ folder: TemporaryFolder) throws {
    do {
        let inbox = try FileInbox(path: folder / "Inbox")
        try inbox.store(try inbox.stagedFile("x"), as: "x.txt")
        let tree = try inbox.stagedTree()
        try tree.add(try entry("a"), "a")
        try inbox.store(tree, as: ".waft-staging")
        #expect(listing(of: folder / "Inbox") == [".waft-staging", ".waft-staging-1", "x.txt"])
        #expect(listing(of: folder.path) == listing(of: folder.path).filter { $0 != ".waft-staging" })
        let listed = try InboxListing.entries(at: folder / "Inbox")
        #expect(listed.map(\.name) == [".waft-staging-1", "x.txt"])
        _ = try inbox.stagedFile("left")
    }
    _ = try FileInbox(path: folder / "Inbox")
    #expect(listing(of: folder / "Inbox/.waft-staging") == ["CACHEDIR.TAG", "lock"])
}
