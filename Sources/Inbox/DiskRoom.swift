import Glibc
import SystemCalls

/// How much room a file system has.
enum DiskRoom {
    /// Bytes that an ordinary user may still store on the file system of `file`, and leave the reserve alone; saturates
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

    private static func bytes(_ blocks: UInt64, _ size: UInt64) -> UInt64 {
        let (bytes, overflow) = blocks.multipliedReportingOverflow(by: size)
        return overflow ? .max : bytes
    }
}

/// How much of the Inbox's file system is left to everybody else.
package enum DiskReserve: Hashable, Sendable {
    /// The smaller of 1 GiB and 5 %.
    case standard
    case bytes(UInt64)
    /// In hundredths, 0...100.
    case percent(UInt64)

    package func bytes(ofFileSystem size: UInt64) -> UInt64 {
        switch self {
        case .standard: min(1 << 30, size / 20)
        case .bytes(let bytes): bytes
        case .percent(let percent): size / 100 * min(percent, 100) + size % 100 * min(percent, 100) / 100
        }
    }
}
