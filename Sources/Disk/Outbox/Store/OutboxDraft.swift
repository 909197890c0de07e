import CLinuxShims
import Foundation
import ItemSources
package import Sharing
import SystemCalls

/// A job before it enters the outbox. It has a folder of its own with a hidden name, which becomes the job's name when
/// all contents are on the disk. A draft that is released before leaves nothing.
///
/// ```
/// make ──▶ add, add, … ──▶ commit: synced, numbered, renamed, synced
/// ```
package final class OutboxDraft {
    static let prefix = ".new-"

    private let store: OutboxStore
    private let path: String
    /// Locked while the job is being made: the lock shows a sweep that the maker is alive.
    private let descriptor: FileDescriptor
    private let spool: Spool
    private let spoolQuota: SpoolQuota
    private var items: [OutboxItem] = []
    private var textBytes = 0
    private var hasCopies = false
    private var isCommitted = false

    /// - Parameters:
    ///   - quota: bytes of all copies in the outbox.
    ///   - reserve: bytes that copies leave free, from the size of the disk.
    ///   - isCancelled: called during copying; true ends it.
    /// - Throws: `OutboxError`: `full` when there are too many jobs, `disk`.
    package static func make(
        in store: OutboxStore,
        quota: UInt64 = OutboxLimits.spooledBytes,
        reserve: @escaping @Sendable (UInt64) -> UInt64 = OutboxLimits.reserve,
        isCancelled: @escaping () -> Bool = { false }
    ) throws(OutboxError) -> OutboxDraft {
        try store.locked { () throws(OutboxError) in
            try makeLocked(in: store, quota: quota, reserve: reserve, isCancelled: isCancelled)
        }
    }

    private static func makeLocked(
        in store: OutboxStore, quota: UInt64, reserve: @escaping @Sendable (UInt64) -> UInt64,
        isCancelled: @escaping () -> Bool
    ) throws(OutboxError) -> OutboxDraft {
        let open = try store.contents().records.count { !$0.standing.state.isFinal }
        guard open < OutboxLimits.openJobs else {
            throw OutboxError(
                .full, "the outbox is full: \(open) jobs wait; see waft outbox list")
        }
        let path = store.folder + "/" + prefix + UUID().uuidString.lowercased()
        do throws(SystemError) {
            try systemCall { mkdir(path, 0o700) }
            let descriptor = try FileDescriptor.opening(path, O_RDONLY | O_DIRECTORY)
            try systemCall { flock(descriptor.raw, LOCK_EX | LOCK_NB) }
            return OutboxDraft(
                store: store, path: path, descriptor: descriptor, quota: quota, reserve: reserve,
                isCancelled: isCancelled)
        } catch {
            throw .disk("a job cannot be made in the outbox \(store.folder)", error)
        }
    }

    private init(
        store: OutboxStore, path: String, descriptor: consuming FileDescriptor, quota: UInt64,
        reserve: @escaping @Sendable (UInt64) -> UInt64, isCancelled: @escaping () -> Bool
    ) {
        self.store = store
        self.path = path
        spoolQuota = SpoolQuota(
            folder: descriptor.raw, quota: quota, reserve: reserve, used: Self.copiedBytes(in: store.folder))
        self.descriptor = descriptor
        spool = Spool(quota: spoolQuota, isCancelled: isCancelled)
    }

    deinit {
        if !isCommitted { try? FileManager.default.removeItem(atPath: path) }
    }

    static func isBeingMade(_ path: String) -> Bool {
        guard let folder = try? FileDescriptor.opening(path, O_RDONLY | O_DIRECTORY) else { return false }
        return flock(folder.raw, LOCK_EX | LOCK_NB) != 0
    }

    /// Bytes of all files in the folders of copies.
    private static func copiedBytes(in folder: String) -> UInt64 {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.reduce(0) { total, name in
            guard let stamp = try? SourceStamp(of: folder + "/" + name + "/items") else { return total }
            return total &+ UInt64(max(0, stamp.bytes))
        }
    }

    // MARK: Adding

    /// Adds a file or folder at a path. It must stay unchanged until it is sent.
    ///
    /// - Parameter path: absolute.
    /// - Throws: `SourceError` if it cannot be examined.
    package func addReference(_ source: any ItemSource, path: String) throws {
        let stamp: SourceStamp
        do {
            stamp = try SourceStamp(of: path)
        } catch {
            throw SourceError(.unreadable, "\(source.origin): cannot be read (\(error))")
        }
        try add(OutboxItem(source.offered, origin: source.origin, content: .path(path), stamp: stamp))
    }

    /// Adds a copy of the present contents of a source: piped input, or an item of a snapshot.
    ///
    /// - Throws: `SourceError`, `OutboxError`, `CancellationError`.
    package func addCopy(of source: any ItemSource) throws {
        let folder = path + "/items"
        let name = String(items.count)
        if let size = source.offered.size { try spoolQuota.look(for: size) }
        if !hasCopies, mkdir(folder, 0o700) != 0 { throw OutboxError.disk("cannot copy to \(folder)", .last) }
        hasCopies = true
        let size = try spool.copy(source, to: folder + "/" + name)
        var item = OutboxItem(source.offered, origin: source.origin, content: .spooled(name))
        item.size = size
        try add(item)
    }

    /// Adds a copy, as `addCopy` does.
    ///
    /// - Returns: the copy as a source that can be read again and again, while the draft is there.
    /// - Throws: as `addCopy`.
    package func source(copying source: any ItemSource) throws -> any ItemSource {
        try addCopy(of: source)
        return try ItemSources.make(
            path: "\(path)/items/\(items.count - 1)", name: source.offered.name, type: source.offered.type)
    }

    /// Adds a text.
    package func addText(_ text: String, offered: OfferedItem) throws(OutboxError) {
        try add(OutboxItem(offered, origin: "text", content: .text(text)))
    }

    /// Adds a URL.
    package func addURL(_ url: String, offered: OfferedItem) throws(OutboxError) {
        try add(OutboxItem(offered, origin: "url", content: .url(url)))
    }

    private func add(_ item: OutboxItem) throws(OutboxError) {
        textBytes += item.name.utf8.count + item.origin.utf8.count + item.type.utf8.count + 256
        switch item.content {
        case .path(let text), .text(let text), .url(let text), .spooled(let text): textBytes += text.utf8.count
        }
        guard textBytes <= OutboxLimits.textBytes else {
            throw OutboxError(.full, "the texts and names are too long for one outbox job")
        }
        items.append(item)
    }

    // MARK: Committing

    /// Puts the job into the outbox. When this returns, the job survives a crash and a power cut.
    ///
    /// - Parameter lifetime: milliseconds after which the job is given up.
    /// - Throws: `OutboxError`.
    package func commit(
        to destination: OutboxJob.Destination,
        options: OutboxJob.Options = OutboxJob.Options(),
        at now: WallTime,
        lifetime: Int64 = OutboxLimits.lifetime
    ) throws(OutboxError) -> OutboxJob {
        precondition(!items.isEmpty, "a job needs an item to send")
        // The contents of the copies come first: one flush of all is faster than one flush for each.
        if hasCopies, CLinuxShims_syncfs(descriptor.raw) != 0 {
            throw .disk("the copies cannot be flushed to the disk", .last)
        }
        return try store.locked { () throws(OutboxError) in
            let job = OutboxJob(
                number: try nextNumber(), queued: now,
                expires: WallTime(milliseconds: now.milliseconds &+ lifetime),
                destination: destination, options: options, items: items)
            try OutboxStore.write(job, to: path + "/job.json")
            do throws(SystemError) {
                try systemCall { rename(path, store.place(of: job.number)) }
                isCommitted = true
                try SmallFile.syncFolder(store.folder)
                // The folder of the outbox may be new too.
                try SmallFile.syncFolder(SmallFile.folder(of: store.folder))
            } catch {
                throw .disk("the job cannot be put into the outbox", error)
            }
            return job
        }
    }

    /// The number is taken before its use: a crash in between loses a number, but none is assigned twice.
    private func nextNumber() throws(OutboxError) -> JobNumber {
        let file = store.folder + "/next"
        let text = (try? SmallFile.read(file, limit: 64)).map { String(decoding: $0, as: UTF8.self) }
        let noted = text.flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) } ?? 1
        let names = (try? FileManager.default.contentsOfDirectory(atPath: store.folder)) ?? []
        let number = max(noted, (names.compactMap { Int($0) }.max() ?? 0) + 1, 1)
        do throws(SystemError) {
            try SmallFile.replace(file, with: Array("\(number + 1)\n".utf8), mode: 0o600)
        } catch {
            throw .disk("the outbox cannot be written: \(file)", error)
        }
        return JobNumber(number)
    }
}
