package import Glibc

/// Identifies a version of a file: cheap to read, different after every change.
package struct FileStamp: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64
    private let size: Int64
    private let modified: Instant
    private let changed: Instant

    private struct Instant: Hashable, Sendable {
        var seconds: Int
        var nanoseconds: Int

        init(_ time: timespec) {
            seconds = time.tv_sec
            nanoseconds = time.tv_nsec
        }
    }

    package init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        modified = Instant(status.st_mtim)
        changed = Instant(status.st_ctim)
    }

    /// Whether the stamps differ in the time of the last change alone, if at all. A new link, another mode or another
    /// attribute changes that time; so does a writer that sets the time of modification back.
    package func hasSameContents(as other: FileStamp) -> Bool {
        device == other.device && inode == other.inode && size == other.size && modified == other.modified
    }

    /// The stamp of the file at a path; a link is not followed.
    ///
    /// - Throws: the kernel's error; `ENOENT` if there is no file.
    package init(of path: String) throws(SystemError) {
        var status = stat()
        try systemCall { lstat(path, &status) }
        self.init(status)
    }

    /// Whether the file was changed so shortly before `now` that a second change could leave the same stamp: the kernel
    /// stamps files by a clock of some milliseconds' grain, and gives the inode of a removed file to the next one.
    package func isRecent(at now: timespec) -> Bool {
        let (seconds, isFar) = now.tv_sec.subtractingReportingOverflow(changed.seconds)
        guard !isFar, (-1...1).contains(seconds) else { return false }
        return abs(seconds * 1_000_000_000 + now.tv_nsec - changed.nanoseconds) < Self.grain
    }

    /// Nanoseconds: several times the grain of the slowest kernel clock (100 Hz).
    private static let grain = 50_000_000

    /// The system's time, to compare with.
    package static func now() -> timespec {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return now
    }
}
