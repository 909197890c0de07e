import Age
import CLinuxShims
import Digests
import Glibc
import Secrets
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
    /// Whether the file system has reserved room for all of it.
    var roomTaken = false
    /// The received contents of a small file that is written behind; nil for others.
    private var gathered: [UInt8]?
    /// Seals the contents on their way; nil for a file that is not sealed, and for one that is whole already.
    private var sealing: Sealing?
    /// Makes a sealer for a gathered file of which more comes than was announced; nil for a file that is not sealed.
    private let lateSealing: ItemSealing?
    /// Bytes of contents.
    private var received: UInt64
    /// Bytes in the file, with the zeros that are left out.
    private var written: Int64
    /// The last bytes of the file, from the beginning of a block on, are so many zeros, and not in the file yet.
    private var zeros: Int64 = 0
    /// Whether blocks of zeros are left out. A sealed file has none.
    private let leavesHoles: Bool
    /// Whether the file has the announced size.
    var isComplete: Bool { entry.size == received }
    /// The bytes before this offset are being written to the disk, or are there.
    private var started: Int64
    /// Bytes that the kernel has not yet been asked to write to the disk.
    var unstartedBytes: UInt64 { UInt64(written - started) }

    /// The sealing of one file.
    struct Sealing: ~Copyable {
        var sealer: AgeSealer
        /// The digest of the sealed file so far; nil for one that was begun earlier.
        var digest: DigestState?
    }

    /// - Parameters:
    ///   - entry: with the bytes that are there already; the descriptor stands behind them.
    ///   - gathers: whether the contents are collected in memory until they are complete.
    ///   - sealing: seals a gathered file, which gets no key before its contents are complete.
    init(
        _ descriptor: consuming FileDescriptor, entry: FileEntry, displayPath: String, gathers: Bool = false,
        sealing: ItemSealing? = nil
    ) {
        self.init(
            descriptor, entry: entry, displayPath: displayPath, gathers: gathers, leavesHoles: sealing == nil,
            lateSealing: sealing)
    }

    private init(
        _ descriptor: consuming FileDescriptor, entry: FileEntry, displayPath: String, gathers: Bool,
        leavesHoles: Bool, lateSealing: ItemSealing?
    ) {
        self.descriptor = descriptor
        self.entry = entry
        self.displayPath = displayPath
        self.received = entry.offset
        self.written = Int64(clamping: entry.offset)
        self.started = written
        self.gathered = gathers ? [] : nil
        self.leavesHoles = leavesHoles
        self.lateSealing = lateSealing
        self.sealing = nil
    }

    /// A file that is sealed.
    ///
    /// - Parameters:
    ///   - received: bytes of contents that are there.
    ///   - sealer: a new one, or the one that has written the bytes that are there.
    ///   - written: bytes that are there, with the header; 0 for a new file.
    init(
        _ descriptor: consuming FileDescriptor, entry: FileEntry, displayPath: String, received: UInt64 = 0,
        sealer: consuming AgeSealer, written: Int = 0
    ) {
        self.init(
            descriptor, entry: entry, displayPath: displayPath, gathers: false, leavesHoles: false, lateSealing: nil)
        self.received = received
        let written = Int64(written)
        self.written = written
        self.started = written
        self.sealing = Sealing(sealer: sealer, digest: written == 0 ? DigestState(.xxh3_128) : nil)
    }

    /// Writes the header of a sealed file, before its contents.
    mutating func begin(makingRoom: () -> Bool) throws(SystemError) {
        guard written == 0, let header = sealing?.begin() else { return }
        try header.withBytes { (bytes) throws(SystemError) in try put(bytes, makingRoom: makingRoom) }
    }

    /// - Parameter makingRoom: called when the disk is full; whether to try again.
    mutating func write(
        _ bytes: UnsafeRawBufferPointer, makingRoom: () -> Bool
    ) throws(SystemError) {
        if let count = gathered?.count {
            received += UInt64(bytes.count)
            gathered?.append(contentsOf: bytes)
            guard count + bytes.count > WriteBehindQueue.maximumBytes, let all = gathered.take() else { return }
            // More than was announced.
            received = 0
            if let lateSealing {
                sealing = Sealing(sealer: try lateSealing.makeSealer(), digest: DigestState(.xxh3_128))
                try begin(makingRoom: makingRoom)
            }
            return try all.withBytes { (all) throws(SystemError) in try write(all, makingRoom: makingRoom) }
        }
        received += UInt64(bytes.count)
        guard var sealing = sealing.take() else { return try put(bytes, makingRoom: makingRoom) }
        do throws(SystemError) {
            try sealing.seal(bytes) { (sealed) throws(SystemError) in try put(sealed, makingRoom: makingRoom) }
        } catch {
            self.sealing = consume sealing
            throw error
        }
        self.sealing = consume sealing
    }

    /// Writes bytes of the file, except for blocks of zeros.
    private mutating func put(_ bytes: UnsafeRawBufferPointer, makingRoom: () -> Bool) throws(SystemError) {
        guard leavesHoles else { return try append(bytes, makingRoom: makingRoom) }
        var rest = bytes
        while !rest.isEmpty {
            let (count, areZeros) = ZeroBlocks.first(of: rest, at: written, continues: zeros > 0)
            let part = UnsafeRawBufferPointer(rebasing: rest[..<count])
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            if areZeros {
                written += Int64(count)
                zeros += Int64(count)
                // What has arrived of a long run stays, should the program be killed.
                if zeros >= Int64(Self.writebackStep) { try leaveHole() }
            } else {
                try leaveHole()
                try writeZeros(makingRoom: makingRoom)
                try append(part, makingRoom: makingRoom)
            }
        }
    }

    /// Makes a hole of the whole blocks of zeros at the end of the file, which gets the size of that.
    private mutating func leaveHole() throws(SystemError) {
        let bytes = zeros - zeros % Int64(ZeroBlocks.byteCount)
        guard bytes > 0 else { return }
        let start = written - zeros
        try systemCall { ftruncate(descriptor.raw, off_t(start + bytes)) }
        try systemCall { lseek(descriptor.raw, off_t(start + bytes), SEEK_SET) }
        // The room that was put aside. If the file system cannot take it back, the contents are still right.
        if roomTaken { _ = CLinuxShims_punch_hole(descriptor.raw, start, bytes) }
        zeros -= bytes
    }

    /// Writes the zeros that are no whole block.
    private mutating func writeZeros(makingRoom: () -> Bool) throws(SystemError) {
        guard zeros > 0 else { return }
        let count = Int(zeros)
        written -= zeros
        zeros = 0
        try ZeroBlocks.zeros.withBytes { (block) throws(SystemError) in
            try append(UnsafeRawBufferPointer(rebasing: block[..<count]), makingRoom: makingRoom)
        }
    }

    /// Writes bytes behind those that are in the file.
    private mutating func append(_ bytes: UnsafeRawBufferPointer, makingRoom: () -> Bool) throws(SystemError) {
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

    /// Ends the writing before the file is whole, and releases the room for the missing bytes.
    /// - Returns: the sealer, with which it can be continued; nil if nothing is sealed.
    consuming func breakOff() -> AgeSealer? {
        try? leaveHole()
        if roomTaken || zeros > 0 { ftruncate(descriptor.raw, off_t(written)) }
        guard let sealing = sealing.take() else { return nil }
        return consume sealing.sealer
    }

    /// The end of a file.
    struct End: ~Copyable {
        /// The file, which is written and still open; nil for one that is closed or to be written.
        var open: FileDescriptor?
        /// The gathered contents, which are still to be written; nil for a file that is written.
        var rest: WriteBehindQueue.File?
        /// The digest of a file that was sealed from its first byte on.
        var sealedDigest: Digest?
        /// The key of a file that was sealed.
        var chunkKey: SecretBytes?
    }

    /// Ends the writing.
    /// - Parameter staysOpen: whether the file is not closed.
    consuming func end(staysOpen: Bool = false, makingRoom: () -> Bool) throws(SystemError) -> End {
        var end = End()
        if let contents = gathered.take() {
            let (entry, displayPath) = (entry, displayPath)
            end.rest = WriteBehindQueue.File(
                descriptor: descriptor.release(), entry: entry, displayPath: displayPath, contents: contents)
            return end
        }
        if var sealing = sealing.take() {
            try sealing.finish { (sealed) throws(SystemError) in try put(sealed, makingRoom: makingRoom) }
            end.chunkKey = sealing.sealer.chunkKey
            end.sealedDigest = sealing.digest?.finalize()
        }
        try leaveHole()
        try writeZeros(makingRoom: makingRoom)
        if roomTaken, !isComplete { ftruncate(descriptor.raw, off_t(written)) }
        // The sender chooses the time. If the file system cannot store it, the contents are still good.
        _ = FileTimes.set(entry.modified, of: descriptor.raw)
        if staysOpen { end.open = consume descriptor } else { try descriptor.close() }
        return end
    }
}

extension WritingFile.Sealing {
    /// - Returns: the bytes before the contents.
    mutating func begin() -> [UInt8] {
        digest?.update(sealer.header)
        return sealer.header
    }

    /// Seals the next contents, and adds the sealed bytes to the digest.
    mutating func seal(
        _ contents: UnsafeRawBufferPointer, into write: (UnsafeRawBufferPointer) throws(SystemError) -> Void
    ) throws(SystemError) {
        try sealer.seal(contents) { (sealed) throws(SystemError) in
            digest?.update(sealed)
            try write(sealed)
        }
    }

    mutating func finish(into write: (UnsafeRawBufferPointer) throws(SystemError) -> Void) throws(SystemError) {
        try sealer.finish { (sealed) throws(SystemError) in
            digest?.update(sealed)
            try write(sealed)
        }
    }
}

extension [UInt8] {
    /// As `withUnsafeBytes`, which cannot throw a typed error.
    func withBytes(_ body: (UnsafeRawBufferPointer) throws(SystemError) -> Void) throws(SystemError) {
        let failure = withUnsafeBytes { bytes -> SystemError? in
            do throws(SystemError) {
                try body(bytes)
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
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
