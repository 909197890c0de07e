import CLinuxShims
import Glibc
import Sharing
import SystemCalls

/// The file that is being written.
struct WritingFile: ~Copyable {
    /// How much of a file is written, in bytes, before the disk is told to start on it. Without that the kernel leaves
    /// a gigabyte or more for the sync at the end, while the network would have kept the disk idle.
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
    /// Whether as much is there as was announced.
    var isComplete: Bool { entry.size == UInt64(written) }
    /// How far the disk has been told to write.
    private var started: Int64
    /// Bytes that the disk has not been told to write.
    var unstartedBytes: UInt64 { UInt64(written - started) }

    /// - Parameters:
    ///   - entry: with the bytes that are there already; the descriptor stands behind them.
    ///   - gathers: whether nothing is written before all of it is there.
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
            guard count + bytes.count > WritingBehind.mostBytes, let all = gathered.take() else { return }
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
            // Nothing written and no error: no file system says that, and a loop would wait for it for ever.
            if count == 0 { throw SystemError(EIO) }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            written += Int64(count)
        }
        if unstartedBytes >= Self.writebackStep {
            // A hint: where it cannot be given, the sync does all the work.
            _ = CLinuxShims_sync_file_range_write(descriptor.raw, started, Int64(unstartedBytes))
            started = written
        }
    }

    mutating func write(_ bytes: [UInt8], makingRoom: () -> Bool) throws(SystemError) {
        // The library's way to an array's bytes throws anything or nothing.
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

    /// Ends the writing before the file is whole, and gives back the room for what has not come.
    consuming func breakOff() {
        if roomTaken { ftruncate(descriptor.raw, off_t(written)) }
    }

    /// Ends the writing of what was gathered, or of anything else.
    /// - Returns: what is still to be written, if so.
    consuming func end() throws(SystemError) -> WritingBehind.File? {
        if let contents = gathered.take() {
            let (entry, displayPath) = (entry, displayPath)
            return WritingBehind.File(
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
