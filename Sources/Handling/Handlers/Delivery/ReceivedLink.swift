import Glibc
package import HandlerCatalog
import Sharing
import SystemPackage

/// The contents of a received `.url` file.
package enum ReceivedLink {
    /// Bytes of such a file that are read.
    package static let longestFile = 16 << 10

    /// Reads the URL of an Internet Shortcut: the value of `URL` in `[InternetShortcut]`. The disk is read.
    ///
    /// - Returns: nil for a file that is missing, is no regular file (links are not followed), or has no such line, or
    ///   if the line has no URL.
    package static func parts(at path: String) -> URLParts? {
        head(of: path).flatMap(parts)
    }

    /// The same for contents in memory.
    package static func parts(in bytes: [UInt8]) -> URLParts? {
        InternetShortcut.url(in: bytes).flatMap { try? URLParts($0) }
    }

    private static func head(of path: String) -> [UInt8]? {
        // Non-blocking: opening a pipe would wait for its other end.
        let raw = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        guard raw >= 0 else { return nil }
        defer { close(raw) }
        var status = stat()
        guard fstat(raw, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return try? [UInt8](unsafeUninitializedCapacity: longestFile) { buffer, count in
            while count < longestFile {
                let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[count...])
                let more = try FileDescriptor(rawValue: raw).read(into: rest)
                if more == 0 { break }
                count += more
            }
        }
    }
}
