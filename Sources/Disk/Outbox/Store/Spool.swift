import CLinuxShims
import Glibc
import Sharing
import SystemCalls

/// Copies items into a folder, byte for byte as they would be sent.
struct Spool {
    /// Bytes of the buffer, and of contents between two checks for room.
    private static let pieceBytes = 1 << 20

    let quota: SpoolQuota
    /// Called between pieces; true ends the copying.
    let isCancelled: () -> Bool

    /// Copies an item to a path that does not exist yet.
    ///
    /// - Returns: bytes of its contents.
    /// - Throws: `SourceError` if the source cannot be read, `OutboxError` if the copy cannot be written,
    ///   `CancellationError`.
    func copy(_ source: any ItemSource, to path: String) throws -> UInt64 {
        let reading = try source.open()
        if source.offered.kind == .tree {
            try disk(path) { () throws(SystemError) in try systemCall { mkdir(path, 0o700) } }
        }
        var total: UInt64 = 0
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceBytes, alignment: 16)
        defer { piece.deallocate() }
        while let step = try reading.next() {
            switch step {
            case .folder(let place):
                let path = path + "/" + place.text
                try disk(path) { () throws(SystemError) in try systemCall { mkdir(path, 0o700) } }
            case .link(let place, let target):
                let path = path + "/" + place.text
                try disk(path) { () throws(SystemError) in try systemCall { symlink(target.text, path) } }
            case .file(let entry):
                total += try file(entry, reading, at: entry.path.map { path + "/" + $0.text } ?? path, piece)
            case .folderClosed(let place, let modified):
                let path = place.map { path + "/" + $0.text } ?? path
                if let modified {
                    try disk(path) { () throws(SystemError) in try Self.setTime(modified, AT_FDCWD, path) }
                }
            }
        }
        return total
    }

    private func file(
        _ entry: FileEntry, _ reading: any ItemReading, at path: String, _ piece: UnsafeMutableRawBufferPointer
    ) throws -> UInt64 {
        let file = try disk(path) { () throws(SystemError) in
            try FileDescriptor.opening(
                path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: entry.executable ? 0o700 : 0o600)
        }
        var total: UInt64 = 0
        while true {
            if isCancelled() { throw CancellationError() }
            let count = try reading.read(into: piece)
            if count == 0 { break }
            try quota.take(UInt64(count))
            total += UInt64(count)
            let bytes = UnsafeRawBufferPointer(rebasing: piece[..<count])
            try disk(path) { () throws(SystemError) in try Self.write(bytes, to: file.raw) }
        }
        if let modified = entry.modified {
            try disk(path) { () throws(SystemError) in try Self.setTime(modified, file.raw, nil) }
        }
        do {
            try file.close()
        } catch {
            throw OutboxError.disk("cannot copy to \(path)", error)
        }
        return total
    }

    private static func write(_ bytes: UnsafeRawBufferPointer, to file: Int32) throws(SystemError) {
        var rest = bytes
        while !rest.isEmpty {
            let now = rest
            let count = try systemCall { Glibc.write(file, now.baseAddress, now.count) }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    private static func setTime(_ time: Timestamp, _ file: Int32, _ path: String?) throws(SystemError) {
        let modified = timespec(tv_sec: Int(time.seconds), tv_nsec: Int(time.nanoseconds))
        let times = [timespec(tv_sec: 0, tv_nsec: CLinuxShims_UTIME_OMIT), modified]
        try systemCall { path.map { utimensat(file, $0, times, AT_SYMLINK_NOFOLLOW) } ?? futimens(file, times) }
    }

    @discardableResult
    private func disk<Value: ~Copyable>(
        _ path: String, _ body: () throws(SystemError) -> Value
    ) throws(OutboxError) -> Value {
        do {
            return try body()
        } catch {
            throw .disk("cannot copy to \(path)", error)
        }
    }
}

/// Bounds the bytes that may still be copied.
final class SpoolQuota {
    /// Bytes between two checks of the disk.
    private static let lookAfter: UInt64 = 8 << 20

    private let folder: Int32
    private let quota: UInt64
    private let reserve: @Sendable (UInt64) -> UInt64
    private let used: UInt64
    private var taken: UInt64 = 0
    private var unseen: UInt64 = 0

    /// - Parameters:
    ///   - folder: the outbox; open during the life of this object.
    ///   - quota: bytes of all copies.
    ///   - reserve: bytes left free, from the size of the disk.
    ///   - used: bytes of the existing copies.
    init(folder: Int32, quota: UInt64, reserve: @escaping @Sendable (UInt64) -> UInt64, used: UInt64) {
        (self.folder, self.quota, self.reserve, self.used) = (folder, quota, reserve, used)
    }

    /// - Throws: `OutboxError` `full` if the bytes exceed the quota or the free space.
    func take(_ bytes: UInt64) throws(OutboxError) {
        taken += bytes
        unseen += bytes
        guard used.addingReportingOverflow(taken).partialValue <= quota else {
            throw OutboxError(
                .full,
                "the outbox has room for \(ByteCount.text(quota)) of copies, \(ByteCount.text(used)) of which are taken; "
                    + "see waft outbox list, and the setting outboxQuota")
        }
        guard unseen >= Self.lookAfter else { return }
        try look(for: 0)
    }

    /// Checks that the disk has room for so many more bytes.
    func look(for bytes: UInt64) throws(OutboxError) {
        unseen = 0
        var status = statvfs()
        guard fstatvfs(folder, &status) == 0 else { return }
        let block = UInt64(status.f_frsize)
        let free = UInt64(status.f_bavail).multipliedReportingOverflow(by: block).partialValue
        let total = UInt64(status.f_blocks).multipliedReportingOverflow(by: block).partialValue
        let reserve = reserve(total)
        guard free >= reserve, free - reserve >= bytes else {
            throw OutboxError(
                .full,
                "the disk of the outbox has \(ByteCount.text(free)) free, and \(ByteCount.text(reserve)) of that must "
                    + "stay free")
        }
    }
}

extension OutboxError {
    static func disk(_ what: String, _ error: SystemError) -> OutboxError {
        let isFull = error.number == ENOSPC || error.number == EDQUOT
        return OutboxError(isFull ? .full : .disk, "\(what): \(error)")
    }
}
