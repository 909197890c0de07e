import CLinuxShims
import Executors
import Glibc
import Sharing
import SystemCalls
import TestSupport
import Testing

@testable import Inbox

@Suite("Many small files on their way to the disk", .timeLimit(.minutes(1)))
struct BackgroundSyncTests {
    private let folder = TemporaryFolder()
    private let syncs = Recorder<Int32>()
    /// Lets a sync that has begun end.
    private let ends = Semaphore()
    /// Signals that a sync has ended.
    private let ended = Semaphore()

    private func early() throws -> BackgroundSync {
        let opened = OpenFolder(
            FileDescriptor(owning: try systemCall { open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }))
        return BackgroundSync(opened) { [syncs, ends, ended] own in
            // File status flags belong to one opening of a file, so a flag identifies the descriptor.
            _ = fcntl(own, F_SETFL, O_NONBLOCK)
            syncs.record(fcntl(opened.raw, F_GETFL) & O_NONBLOCK)
            ends.wait()
            ended.signal()
        }
    }

    @Test("is written after so many files")
    func files() async throws {
        let early = try early()
        for _ in 1..<BackgroundSync.maximumFiles { early.wrote(0) }
        #expect(syncs.all.isEmpty)
        early.wrote(0)
        ends.signal()
        _ = try await syncs.first { _ in true }
        #expect(syncs.all.count == 1)
    }

    @Test("is written after so many bytes")
    func bytes() async throws {
        let early = try early()
        early.wrote(BackgroundSync.maximumBytes - 1)
        #expect(syncs.all.isEmpty)
        early.wrote(1)
        ends.signal()
        _ = try await syncs.first { _ in true }
        #expect(syncs.all.count == 1)
    }

    @Test("waits while the disk still writes earlier files, and is written after that")
    func slowDisk() async throws {
        let early = try early()
        early.wrote(BackgroundSync.maximumBytes)
        _ = try await syncs.first { _ in true }
        for _ in 0..<3 { early.wrote(BackgroundSync.maximumBytes) }
        #expect(syncs.all.count == 1)
        ends.signal()
        ended.wait()
        // The end is reported right after it happens.
        while syncs.all.count == 1 {
            early.wrote(BackgroundSync.maximumBytes)
            await Task.yield()
        }
        ends.signal()
        ended.wait()
        #expect(syncs.all.count == 2)
    }

    @Test("is synced through its own descriptor, so that the sync at the end reports every fault")
    func ownOpening() async throws {
        let early = try early()
        ends.signal()
        early.wrote(BackgroundSync.maximumBytes)
        let flags = try await syncs.first { _ in true }
        #expect(flags == 0)
    }

    @Test("is counted for the trees of an Inbox on a disk, and not where no disk is")
    func places() throws {
        let disk = folder / "memory"
        mkdir(disk, 0o700)
        try #require(CLinuxShims_mount_tmpfs(disk, "4m") == 0, "mounting needs root")
        defer { while umount2(disk, Int32(MNT_DETACH)) == 0 {} }
        let inMemory = try StagingFolder.sample(disk)
        #expect(inMemory.earlySync == nil)
        // Temporary folders may be in memory too.
        let onDisk = try StagingFolder.sample(folder.path)
        #expect((onDisk.earlySync == nil) == onDisk.isInMemory)
    }
}

extension StagingFolder {
    fileprivate static func sample(_ path: String) throws -> StagingFolder {
        mkdir(path + "/Inbox", 0o700)
        let inbox = OpenFolder(
            FileDescriptor(owning: try systemCall { Glibc.open(path + "/Inbox", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }))
        return try open(ofInbox: inbox, at: path + "/Inbox", opening: .inOneCall, reserve: .bytes(0))
    }
}
