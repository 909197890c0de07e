package import Glibc

/// Reading and writing files that fit in memory.
package enum SmallFile {
    /// Why a file could not be read.
    package enum AccessError: Error, Hashable {
        case missing
        case link
        case notRegular
        case tooLarge
        case system(SystemError)
    }

    /// Reads a whole regular file. A link in its last place is not followed, and pipes and devices are not read.
    ///
    /// - Parameter limit: maximum size in bytes; checked before memory is allocated.
    package static func read(_ path: String, limit: Int) throws(AccessError) -> [UInt8] {
        try stamped(path, limit: limit).bytes
    }

    /// Reads a file as `read` does, with the stamp it had before.
    package static func stamped(_ path: String, limit: Int) throws(AccessError) -> (bytes: [UInt8], stamp: FileStamp) {
        do {
            // Non-blocking: opening a pipe would wait for its other end.
            let file = try FileDescriptor.opening(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
            var status = stat()
            try systemCall { fstat(file.raw, &status) }
            guard status.st_mode & S_IFMT == S_IFREG else { throw AccessError.notRegular }
            guard status.st_size <= limit else { throw AccessError.tooLarge }
            // One more byte than the size: the file may be growing.
            return (try read(file.raw, capacity: Int(status.st_size) + 1, limit: limit), FileStamp(status))
        } catch let error as SystemError {
            switch error.number {
            case ENOENT, ENOTDIR: throw .missing
            case ELOOP: throw .link
            case ENXIO: throw .notRegular
            default: throw .system(error)
            }
        } catch {
            throw error as? AccessError ?? .notRegular
        }
    }

    private static func read(_ file: Int32, capacity: Int, limit: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: min(capacity, limit + 1))
        var filled = 0
        while true {
            if filled == bytes.count {
                guard filled <= limit else { throw AccessError.tooLarge }
                bytes += [UInt8](repeating: 0, count: min(max(filled, 1), limit + 1 - filled))
            }
            let room = bytes.count - filled
            let start = filled
            let count = try systemCall {
                bytes.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress.map { $0 + start }, room) }
            }
            if count == 0 { break }
            filled += count
        }
        bytes.removeLast(bytes.count - filled)
        return bytes
    }

    /// Writes all bytes to an open file.
    package static func write(_ bytes: [UInt8], to file: Int32) throws(SystemError) {
        var written = 0
        while written < bytes.count {
            let start = written
            written += try systemCall {
                bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress.map { $0 + start }, $0.count - start) }
            }
        }
    }

    /// Replaces or creates a file: readers see the old contents or the new ones, also after a power cut. The temporary
    /// file is beside it under a hidden name, and is removed if anything fails.
    ///
    /// - Parameter mode: without the bits that the process's mask takes away.
    package static func replace(_ path: String, with bytes: [UInt8], mode: mode_t) throws(SystemError) {
        try replace(path, with: bytes, mode: mode, isExact: false)
    }

    /// Replaces a file as above.
    ///
    /// - Parameter mode: also bits that the process's mask takes away.
    package static func replace(_ path: String, with bytes: [UInt8], exactly mode: mode_t) throws(SystemError) {
        try replace(path, with: bytes, mode: mode, isExact: true)
    }

    private static func replace(
        _ path: String, with bytes: [UInt8], mode: mode_t, isExact: Bool
    ) throws(SystemError) {
        let temporary = folder(of: path) + "/." + name(of: path) + ".\(getpid())"
        unlink(temporary)
        do throws(SystemError) {
            let file = try FileDescriptor.opening(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: mode)
            if isExact { try systemCall { fchmod(file.raw, mode) } }
            try write(bytes, to: file.raw)
            try systemCall { fsync(file.raw) }
            try systemCall { rename(temporary, path) }
        } catch {
            unlink(temporary)
            throw error
        }
        try syncFolder(folder(of: path))
    }

    /// Makes sure that the names in a folder survive a power cut.
    package static func syncFolder(_ path: String) throws(SystemError) {
        let folder = try FileDescriptor.opening(path, O_RDONLY | O_DIRECTORY)
        try systemCall { fsync(folder.raw) }
    }

    /// A path without its last name; `/` for `/`.
    package static func folder(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.utf8.startIndex else { return "/" }
        return String(path[..<slash])
    }

    /// The last name of a path.
    package static func name(of path: String) -> String {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[path.utf8.index(after: $0)...]) } ?? path
    }
}
