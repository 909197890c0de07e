import Glibc
import SystemCalls

/// How much room a file system has.
enum DiskRoom {
    /// Bytes that an ordinary user may still store on the file system of `file`; saturates instead of overflowing.
    static func free(onFileSystemOf file: Int32) throws(SystemError) -> UInt64 {
        var status = statvfs()
        try systemCall { fstatvfs(file, &status) }
        let (bytes, overflow) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return overflow ? .max : bytes
    }
}
