import CLinuxShims
import Glibc
import Sharing
import SystemCalls

/// The file that is being written.
struct WritingFile: ~Copyable {
    /// After so many bytes the kernel is asked to start writing them to the disk. Otherwise it leaves a gigabyte or more
    /// for the sync at the end, although the disk is idle while the network transfers.
    private static let writebackStep: UInt64 = 8 << 20

    let descriptor: FileDescriptor
    let entry: FileEntry
    /// For messages.
    let displayPath: String
    /// Whether the file system has reserved room for `entry.size` bytes.
    var roomTaken = false
    /// The received contents of a small file that is written behind; nil for others.
    private var gathered: [UInt8]?
    private var written: Int64
    /// Whether the file has the announced size.
    var isComplete: Bool { entry.size == UInt64(written) }
    /// The bytes before this offset are being written to the disk, or are there.
    private var started: Int64
    /// Bytes that the kernel has not yet been asked to write to the disk.
    var unstartedBytes: UInt64 { UInt64(written - started) }

    /// - Parameters:
    ///   - entry: with the bytes that are there already; the descriptor stands behind them.
    ///   - gathers: whether the contents are collected in memory until they are complete.
    init(
        _ descriptor: consuming FileDescriptor, entry: FileEntry, displayPath: String, gathers: Bool = false
    ) {
        self.descriptor = descriptor
        self.entry = entry
        self.displayPath = displayPath
        self.written = Int64(clamping: entry.offset)
        self.started = written
        self.gathered = gathers ? [] : nil
    }

    /// - Parameter makingRoom: called when the disk is full; whether to try again.
    mutating func write(
        _ bytes: UnsafeRawBufferPointer, makingRoom: () -> Bool
    ) throws(SystemError) {
        if let count = gathered?.count {
            written += Int64(bytes.count)
            gathered?.append(contentsOf: bytes)
            guard count + bytes.count > WriteBehindQueue.maximumBytes, let all = gathered.take() else { return }
            // More than was announced.
            written = 0
            return try write(all, makingRoom: makingRoom)
        }
        var rest = bytes
        while !rest.isEmpty {
            let count: Int
            do {
                count = try systemCall { Glibc.write(descriptor.raw, rest.baseAddress, rest.count) }
            } catch  where [ENOSPC, EDQUOT].contains(error.number) && makingRoom() {
                continue
            }
            // No file system returns 0 without an error; a loop would never end.
            if count == 0 { throw SystemError(EIO) }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            written += Int64(count)
        }
        if unstartedBytes >= Self.writebackStep {
            // A hint: if it fails, the sync at the end does all the work.
            _ = CLinuxShims_sync_file_range_write(descriptor.raw, started, Int64(unstartedBytes))
            started = written
        }
    }

    mutating func write(_ bytes: [UInt8], makingRoom: () -> Bool) throws(SystemError) {
        // `withUnsafeBytes` cannot throw a typed error.
        let failure = bytes.withUnsafeBytes { bytes -> SystemError? in
            do throws(SystemError) {
                try write(bytes, makingRoom: makingRoom)
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
    }

    /// Ends the writing before the file is whole, and releases the room for the missing bytes.
    consuming func breakOff() {
        if roomTaken { ftruncate(descriptor.raw, off_t(written)) }
    }

    /// Ends the writing.
    /// - Returns: the gathered contents, which are still to be written; nil for a file that is written.
    consuming func end() throws(SystemError) -> WriteBehindQueue.File? {
        if let contents = gathered.take() {
            let (entry, displayPath) = (entry, displayPath)
            return WriteBehindQueue.File(
                descriptor: descriptor.release(), entry: entry, displayPath: displayPath, contents: contents)
        }

        if roomTaken, entry.size.map({ $0 > UInt64(written) }) ?? false { ftruncate(descriptor.raw, off_t(written)) }
        // The sender chooses the time. If the file system cannot store it, the contents are still good.
        _ = FileTimes.set(entry.modified, of: descriptor.raw)
        try descriptor.close()
        return nil
    }
}

/// The times of files and folders.
enum FileTimes {
    /// Sets when `file` was last modified; nil leaves it. Times out of the file system's range become what it can keep.
    /// - Returns: as futimens(2).
    static func set(_ modified: Timestamp?, of file: Int32) -> Int32 {
        guard let modified else { return 0 }
        let nanoseconds = Int(min(modified.nanoseconds, 999_999_999))
        let times = (
            timespec(tv_sec: 0, tv_nsec: CLinuxShims_UTIME_OMIT),
            timespec(tv_sec: Int(clamping: modified.seconds), tv_nsec: nanoseconds)
        )
        return withUnsafeBytes(of: times) { futimens(file, $0.assumingMemoryBound(to: timespec.self).baseAddress) }
    }
}
