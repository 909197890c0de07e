import CLinuxShims
import Digests
import Glibc
import Sharing
import SystemCalls

/// A regular file that is being read. It checks that all read bytes belong to one state of the file.
struct OpenedFile: ~Copyable {
    /// Size in bytes from which the kernel is advised of sequential reading. For smaller files the call costs more than
    /// it saves.
    private static let sequentialThreshold: UInt64 = 1 << 20

    private let descriptor: FileDescriptor
    private let display: String
    private let before: State
    private var offset: UInt64 = 0
    /// The bytes since `sumStart` that were read. A checksum is enough: it finds a second writer, not an enemy.
    private var sum = DigestState(.xxh3_128)
    private var sumStart: UInt64 = 0

    /// Whether the beginning was not in memory, so that reading had to wait for a disk.
    private(set) var wasAwaited = false
    let executable: Bool
    let modified: Timestamp

    /// Bytes at the time of opening.
    var size: UInt64 { before.size }

    /// Bytes of the buffer for a second reading.
    private static let bufferBytes = 256 << 10

    /// The values that change if a program writes to the file or replaces it.
    private struct State: Equatable {
        let device: UInt64
        let number: UInt64
        let size: UInt64
        let modified: Timestamp
        let changed: Timestamp
        /// Whether its last name was removed, as by a program that saves a new file in its place.
        let isGone: Bool

        init(_ status: stat) {
            self.device = UInt64(status.st_dev)
            self.number = UInt64(status.st_ino)
            self.size = UInt64(max(0, status.st_size))
            self.modified = status.modified
            self.isGone = status.st_nlink == 0
            self.changed = Timestamp(
                seconds: Int64(status.st_ctim.tv_sec),
                nanoseconds: UInt32(clamping: status.st_ctim.tv_nsec)
            )
        }

        /// Whether only the time of the last change of anything differs, if at all. A new link to the file, another
        /// mode or another attribute changes it; so does a writer that sets the time of modification back.
        func hasSameContents(as other: State) -> Bool {
            device == other.device && number == other.number && size == other.size && modified == other.modified
                && isGone == other.isGone
        }
    }

    private init(_ descriptor: consuming FileDescriptor, display: String, status: stat) {
        self.descriptor = descriptor
        self.display = display
        self.before = State(status)
        self.executable = status.st_mode & 0o111 != 0
        self.modified = status.modified
    }

    /// The flags for opening a file that may have been replaced: a named pipe would block, and a terminal would become
    /// the controlling terminal.
    static let flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC

    /// - Parameters:
    ///   - descriptor: opened with `flags`.
    ///   - display: its path, for messages.
    /// - Returns: nil for anything but a regular file.
    static func make(
        _ descriptor: consuming FileDescriptor,
        display: String
    ) throws(SystemError) -> OpenedFile? {
        var status = stat()
        let raw = descriptor.raw
        try systemCall { fstat(raw, &status) }
        guard status.st_mode & S_IFMT == S_IFREG else { return nil }
        let file = OpenedFile(descriptor, display: display, status: status)
        if file.size >= sequentialThreshold { posix_fadvise(raw, 0, 0, POSIX_FADV_SEQUENTIAL) }
        return file
    }

    /// Same as `ItemReading.read(into:)`.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(SourceError) -> Int {
        let remaining = size - offset
        if remaining == 0 {
            try checkEnd(buffer)
            return 0
        }
        let wanted = Int(min(UInt64(buffer.count), remaining))
        let count: Int
        do {
            count = try read(wanted, into: buffer)
        } catch {
            throw .disk(display, error)
        }
        if count == 0 {
            let isSame = (try? state()) == before
            throw isSame ? .size(display, "less") : .changed(display, "it became shorter")
        }
        sum.update(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count]))
        offset += UInt64(count)
        return count
    }

    private mutating func read(
        _ count: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int {
        if offset == 0 {
            let cached = CLinuxShims_read_cached(descriptor.raw, buffer.baseAddress, count)
            if cached > 0 { return cached }
            wasAwaited = cached < 0 && errno == EAGAIN
        }
        return try systemCall { Glibc.read(descriptor.raw, buffer.baseAddress, count) }
    }

    /// Same as `ItemReading.seek(to:)`.
    mutating func seek(to place: UInt64) throws(SourceError) {
        do {
            try systemCall { lseek(descriptor.raw, off_t(clamping: min(place, size)), SEEK_SET) }
        } catch {
            throw .disk(display, error)
        }
        offset = min(place, size)
        sum.reset()
        sumStart = offset
    }

    private mutating func checkEnd(_ buffer: UnsafeMutableRawBufferPointer) throws(SourceError) {
        do throws(SystemError) {
            // Kernel files report 0 bytes and have contents; an empty file would be wrong.
            if size == 0, try systemCall({ Glibc.read(descriptor.raw, buffer.baseAddress, buffer.count) }) > 0 {
                throw SystemError(EFBIG)
            }
            let now = try state()
            if now == before { return }
            if now.hasSameContents(as: before), try isSameAgain(), try state().hasSameContents(as: before) { return }
        } catch  where error.number == EFBIG {
            throw .size(display, "more")
        } catch {
            throw .disk(display, error)
        }
        throw .changed(display, "it was written to")
    }

    private func state() throws(SystemError) -> State {
        var status = stat()
        try systemCall { fstat(descriptor.raw, &status) }
        return State(status)
    }

    /// Reads the same bytes once more.
    private mutating func isSameAgain() throws(SystemError) -> Bool {
        let first = sum.finalize()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.bufferBytes, alignment: 4_096)
        defer { buffer.deallocate() }
        var place = sumStart
        while place < size {
            let wanted = Int(min(UInt64(buffer.count), size - place))
            let count = try systemCall { pread(descriptor.raw, buffer.baseAddress, wanted, off_t(clamping: place)) }
            if count == 0 { return false }
            sum.update(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count]))
            place += UInt64(count)
        }
        return sum.finalize() == first
    }
}
