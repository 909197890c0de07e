import CLinuxShims
import Glibc
import Sharing
import SystemCalls

/// Operations on an item that leaves the Inbox, a folder with all its contents or a file. No link is followed, and each
/// entry is opened by its one name in the folder in which it was found.
enum OwnTree {
    /// Flags to open a file that may have been replaced by something else.
    private static let reading = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
    private static let entering = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC

    // MARK: Modes

    /// Gives the entry `name` of `folder`, with its contents, the modes of this user's own files: 0666 for files, 0777
    /// for executable files and for folders, less `mask`. Links have no modes.
    static func normalizeModes(
        _ name: UnsafePointer<CChar>, in folder: Int32, mask: mode_t, depth: Int = 0
    ) throws(SystemError) {
        var status = stat()
        try systemCall { fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) }
        switch status.st_mode & S_IFMT {
        case S_IFREG:
            let file = FileDescriptor(owning: try systemCall { openat(folder, name, reading) })
            let normal: mode_t = status.st_mode & 0o111 == 0 ? 0o666 : 0o777
            try systemCall { fchmod(file.raw, normal & ~mask) }
        case S_IFDIR:
            // No received item is this deep: the folder is foreign, and stays as it is.
            guard depth <= SafeRelativePath.maximumDepth else { return }
            let inner = FileDescriptor(owning: try systemCall { openat(folder, name, entering) })
            var contents = try FolderContents.make(of: inner.raw)
            while let name = try contents.next() {
                try normalizeModes(name, in: inner.raw, mask: mask, depth: depth + 1)
            }
            try systemCall { fchmod(inner.raw, 0o777 & ~mask) }
        default:
            return
        }
    }

    /// The umask of this process, read without changing it for other threads.
    static func umask() -> mode_t {
        if let bytes = try? SmallFile.read("/proc/self/status", limit: 64 << 10) {
            for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") where line.hasPrefix("Umask:") {
                if let mask = mode_t(line.dropFirst(6).drop { $0 == "\t" || $0 == " " }, radix: 8) { return mask }
            }
        }
        let mask = Glibc.umask(0o077)
        _ = Glibc.umask(mask)
        return mask
    }

    // MARK: Copying

    /// Copies the entry `name` of `folder` with times, links and executable bits. The kernel sets the modes as for new
    /// files of this user. Nothing is synced.
    ///
    /// - Parameters:
    ///   - newName: not taken in `newFolder`.
    ///   - buffer: the buffer for the copy.
    ///   - keys: those of a sealed item, whose copy is open; nil for a copy as it is on the disk.
    ///   - keepsModes: whether the disk of the entry keeps executable bits. Else every file there seems to be executable, and
    ///     no copy is.
    ///   - copied: called with the bytes copied since the last call.
    /// - Throws: `SystemError`; with keys also `SealedFileError`.
    static func copy(
        _ name: UnsafePointer<CChar>,
        in folder: Int32,
        as newName: UnsafePointer<CChar>,
        in newFolder: Int32,
        through buffer: UnsafeMutableRawBufferPointer,
        keys: FileKeys? = nil,
        keepsModes: Bool = true,
        depth: Int = 0,
        copied: (Int) -> Void
    ) throws {
        var status = stat()
        try systemCall { fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) }
        switch status.st_mode & S_IFMT {
        case S_IFREG:
            try copyFile(name, in: folder, as: newName, in: newFolder, through: buffer, keys, keepsModes, copied)
        case S_IFLNK:
            let target = try readLink(name, in: folder)
            try systemCall { symlinkat(target, newFolder, newName) }
        case S_IFDIR:
            guard depth <= SafeRelativePath.maximumDepth else { throw SystemError(ENAMETOOLONG) }
            let from = FileDescriptor(owning: try systemCall { openat(folder, name, entering) })
            try systemCall { mkdirat(newFolder, newName, 0o777) }
            let to = FileDescriptor(owning: try systemCall { openat(newFolder, newName, entering) })
            var contents = try FolderContents.make(of: from.raw)
            while let name = try contents.next() {
                let own = keys == nil ? nil : try ownName(name, in: from.raw)
                try copy(
                    name, in: from.raw, as: own ?? Array(UnsafeBufferPointer(start: name, count: strlen(name) + 1)),
                    in: to.raw, through: buffer, keys: keys, keepsModes: keepsModes, depth: depth + 1, copied: copied)
            }
            keep(status, on: to.raw)
        default:
            throw SystemError(ENXIO)
        }
    }

    private static func copyFile(
        _ name: UnsafePointer<CChar>,
        in folder: Int32,
        as newName: UnsafePointer<CChar>,
        in newFolder: Int32,
        through buffer: UnsafeMutableRawBufferPointer,
        _ keys: FileKeys?,
        _ keepsModes: Bool,
        _ copied: (Int) -> Void
    ) throws {
        let from = FileDescriptor(owning: try systemCall { openat(folder, name, reading) })
        var status = stat()
        try systemCall { fstat(from.raw, &status) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw SystemError(ENXIO) }
        let mode: mode_t = keepsModes && status.st_mode & 0o111 != 0 ? 0o777 : 0o666
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let to = FileDescriptor(owning: try systemCall { openat(newFolder, newName, flags, mode) })
        try pass(from.raw, to: to.raw, keys, through: buffer, leavingHoles: true, copied)
        // Zeros at the end were left out too.
        try systemCall { ftruncate(to.raw, lseek(to.raw, 0, SEEK_CUR)) }
        keep(status, on: to.raw)
        try to.close()
    }

    /// Passes the contents of an open file on.
    /// - Parameters:
    ///   - keys: those of a sealed file.
    ///   - leavingHoles: whether pieces of zeros are skipped; only in a new file.
    /// - Throws: `SystemError`; with keys also `SealedFileError`.
    static func pass(
        _ from: Int32, to: Int32, _ keys: FileKeys?, through buffer: UnsafeMutableRawBufferPointer,
        leavingHoles: Bool = false, _ copied: (Int) -> Void
    ) throws {
        guard let keys else {
            while true {
                let count = try systemCall { Glibc.read(from, buffer.baseAddress, buffer.count) }
                if count == 0 { return }
                try put(UnsafeRawBufferPointer(rebasing: buffer[..<count]), to: to, leavingHoles)
                copied(count)
            }
        }
        let source = try SealedFile.open(FileDescriptor.copy(of: from), keys)
        try source.read(upTo: source.size) { (bytes) throws(SealedFileError) in
            do throws(SystemError) {
                try put(bytes, to: to, leavingHoles)
            } catch {
                throw .system(error)
            }
            copied(bytes.count)
        }
    }

    private static func put(
        _ bytes: UnsafeRawBufferPointer, to file: Int32, _ leavesHoles: Bool
    ) throws(SystemError) {
        guard leavesHoles, !bytes.isEmpty, ZeroBlocks.areZero(bytes) else { return try write(bytes, to: file) }
        try systemCall { lseek(file, off_t(bytes.count), SEEK_CUR) }
    }

    static func write(_ bytes: UnsafeRawBufferPointer, to file: Int32) throws(SystemError) {
        var rest = bytes
        while !rest.isEmpty {
            let written = try systemCall { Glibc.write(file, rest.baseAddress, rest.count) }
            if written == 0 { throw SystemError(EIO) }
            rest = UnsafeRawBufferPointer(rebasing: rest[written...])
        }
    }

    /// The own name of a sealed file, with a NUL behind it; nil for other entries, whose names stay.
    private static func ownName(_ name: UnsafePointer<CChar>, in folder: Int32) throws(SystemError) -> [CChar]? {
        var status = stat()
        try systemCall { fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) }
        guard status.st_mode & S_IFMT == S_IFREG else { return nil }
        return SealedName.own(String(cString: name)).map { Array($0.utf8CString) }
    }

    /// Keeps the modification time, as far as the file system can store it.
    private static func keep(_ status: stat, on file: Int32) {
        _ = FileTimes.set(Timestamp(status.st_mtim), of: file)
    }

    /// - Returns: the target with a NUL after it.
    private static func readLink(_ name: UnsafePointer<CChar>, in folder: Int32) throws(SystemError) -> [CChar] {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let room = target.count - 1
        let count = try systemCall { readlinkat(folder, name, &target, room) }
        if count == room { throw SystemError(ENAMETOOLONG) }
        return target
    }

    // MARK: Removing

    /// Removes the entry `name` of `folder`, however deep it is. Its remains never appear beside it: deep folders are
    /// moved up into the item itself.
    ///
    /// - Throws: `ENOTEMPTY` or the cause if something could not be removed; the rest is gone then.
    static func remove(_ name: String, in folder: Int32) throws(SystemError) {
        if unlinkat(folder, name, 0) == 0 { return }
        let error = SystemError.last
        guard error.number == EISDIR || error.number == EPERM else { throw error }
        if unlinkat(folder, name, AT_REMOVEDIR) == 0 { return }
        let top = FileDescriptor(owning: try systemCall { openat(folder, name, entering) })
        var names: [String] = []
        var contents = try FolderContents.make(of: top.raw)
        while let name = try contents.next() { names.append(String(cString: name)) }
        let taken = Set(names)
        var number = 0
        let removal = FolderRemoval(base: top.raw) {
            while true {
                number += 1
                let name = ".waft-removed-\(number)"
                if !taken.contains(name) { return name }
            }
        }
        for name in names { removal.remove(name) }
        try systemCall { unlinkat(folder, name, AT_REMOVEDIR) }
    }
}
