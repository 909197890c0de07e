import Glibc
import SystemCalls

/// The free space of a file system.
enum DiskRoom {
    /// Bytes that an ordinary user may still store on the file system of `file` without using the reserve; saturates
    /// instead of overflowing.
    ///
    /// - Parameter removable: bytes that count as free because they can be removed.
    static func free(
        onFileSystemOf file: Int32, keeping reserve: DiskReserve = .bytes(0), removable: UInt64 = 0
    ) throws(SystemError) -> UInt64 {
        var status = statvfs()
        try systemCall { fstatvfs(file, &status) }
        let (sum, overflow) = bytes(UInt64(status.f_bavail), UInt64(status.f_frsize))
            .addingReportingOverflow(removable)
        let free = overflow ? .max : sum
        let kept = reserve.bytes(ofFileSystem: bytes(UInt64(status.f_blocks), UInt64(status.f_frsize)))
        return free > kept ? free - kept : 0
    }

    /// Creates a file and removes it. A file system that became read-only after a disk error still reports itself as
    /// writable: only a write shows that it is not.
    ///
    /// - Parameters:
    ///   - folder: the folder for the file; it must contain no entry of this name.
    /// - Throws: the error of the write. A full disk is not reported: the figures of the file system show it better.
    static func probe(in folder: Int32, name: String) throws(SystemError) {
        do throws(SystemError) {
            let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
            let file = FileDescriptor(owning: try systemCall { openat(folder, name, flags, 0o600) })
            _ = consume file
            try systemCall { unlinkat(folder, name, 0) }
        } catch {
            if [ENOSPC, EDQUOT].contains(error.number) { return }
            throw error
        }
    }

    /// Number of files and folders that an ordinary user may still create without using up the reserve's share.
    ///
    /// - Parameter removable: entries that count as free because they can be removed.
    /// - Returns: `.max` if the file system does not count entries.
    static func freeEntries(
        onFileSystemOf file: Int32, keeping reserve: DiskReserve = .bytes(0), removable: UInt64 = 0
    ) throws(SystemError) -> UInt64 {
        var status = statvfs()
        try systemCall { fstatvfs(file, &status) }
        if status.f_files == 0 { return .max }
        let (sum, overflow) = UInt64(status.f_favail).addingReportingOverflow(removable)
        let free = overflow ? .max : sum
        let size = bytes(UInt64(status.f_blocks), UInt64(status.f_frsize))
        let kept = reserve.entries(of: UInt64(status.f_files), ofFileSystem: size)
        return free > kept ? free - kept : 0
    }

    private static func bytes(_ blocks: UInt64, _ size: UInt64) -> UInt64 {
        let (bytes, overflow) = blocks.multipliedReportingOverflow(by: size)
        return overflow ? .max : bytes
    }
}

/// The part of the Inbox's file system that is left to other programs.
package enum DiskReserve: Hashable, Sendable {
    /// The smaller of 1 GiB and 5 %.
    case standard
    case bytes(UInt64)
    /// Percent, 0...100.
    case percent(UInt64)

    package func bytes(ofFileSystem size: UInt64) -> UInt64 {
        switch self {
        case .standard: min(1 << 30, size / 20)
        case .bytes(let bytes): bytes
        case .percent(let percent): size / 100 * min(percent, 100) + size % 100 * min(percent, 100) / 100
        }
    }

    /// Number of inodes kept free: the same share as of the bytes.
    /// - Parameter size: bytes of the file system.
    func entries(of total: UInt64, ofFileSystem size: UInt64) -> UInt64 {
        let kept = bytes(ofFileSystem: size)
        if size == 0 || kept == 0 { return 0 }
        return kept >= size ? total : size.dividingFullWidth(total.multipliedFullWidth(by: kept)).quotient
    }
}
