import CLinuxShims
import Executors
import Glibc
import SystemPackage

/// A folder for one call alone: the program's `TMPDIR`.
struct ScratchFolder: Sendable {
    private static let prefix = "call-"

    /// Absolute path.
    let path: String

    /// - Parameter parent: absolute path; made if it is missing, but not its own parent.
    /// - Throws: `Errno`.
    static func make(in parent: String) throws(Errno) -> ScratchFolder {
        do {
            return try made(in: parent)
        } catch Errno.noSuchFileOrDirectory {
            guard mkdir(parent, 0o700) == 0 || errno == EEXIST else { throw Errno(rawValue: errno) }
            return try made(in: parent)
        }
    }

    private static func made(in parent: String) throws(Errno) -> ScratchFolder {
        var template = Array((parent + "/" + prefix + "XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw Errno(rawValue: errno) }
        return ScratchFolder(path: String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self))
    }

    /// Makes an empty folder that nothing can be written in (0500), and its parent folder if that is missing.
    ///
    /// - Throws: `Errno`.
    static func makeEmpty(_ path: String) throws(Errno) {
        if mkdir(path, 0o500) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")),
            mkdir(String(path[..<slash]), 0o700) == 0 || errno == EEXIST, mkdir(path, 0o500) == 0 || errno == EEXIST
        else { throw Errno(rawValue: errno) }
    }

    /// Removes it with all files that the program has left in it.
    func remove() async {
        // Most programs leave nothing.
        if rmdir(path) == 0 { return }
        await withCheckedContinuation { continuation in
            let isStarted = BackgroundThread.start("waft-sweep") {
                TreeRemoval.remove(path)
                continuation.resume()
            }
            // The next start of the receiver sweeps the remains away.
            if !isStarted { continuation.resume() }
        }
    }

    /// Removes all scratch folders in a folder, the remains of calls that a crash cut off.
    static func sweep(_ parent: String) {
        guard let folder = opendir(parent) else { return }
        var names: [String] = []
        while let entry = readdir(folder) {
            if let name = CLinuxShims_dirent_name(entry) { names.append(String(cString: name)) }
        }
        closedir(folder)
        for name in names where name.hasPrefix(prefix) { TreeRemoval.remove(parent + "/" + name) }
    }
}

/// Removes a tree that a program has made. It follows no link, and the tree may be deeper than any path is long.
enum TreeRemoval {
    /// - Parameter path: in a private folder where no other program writes, with a name that the receiver chose.
    static func remove(_ path: String) {
        // Inner folders are moved up, beside the others of the top, and removed from there: only one folder is open at
        // any time, and no path is longer than two names.
        var pending = [path]
        var moved = 0
        while let top = pending.last {
            if unlink(top) == 0 || rmdir(top) == 0 || errno == ENOENT {
                pending.removeLast()
                continue
            }
            switch clear(top, moving: path + ".\(moved + 1)") {
            case .removedSome:
                break
            case .moved(let folder):
                moved += 1
                pending.append(folder)
            case .stuck:
                // It stays until the next sweep.
                pending.removeLast()
            }
        }
    }

    private enum Step {
        case removedSome
        case moved(String)
        case stuck
    }

    /// Removes the contents of a folder, up to the first inner folder that is not empty, which is moved to `fresh`.
    private static func clear(_ path: String, moving fresh: String) -> Step {
        var raw = openFolder(path)
        if raw < 0, errno == EACCES, isFolder(AT_FDCWD, path), chmod(path, 0o700) == 0 { raw = openFolder(path) }
        guard raw >= 0 else { return .stuck }
        guard let folder = fdopendir(raw) else {
            close(raw)
            return .stuck
        }
        defer { closedir(folder) }
        fchmod(raw, 0o700)
        var step = Step.stuck
        while let entry = readdir(folder) {
            guard let name = CLinuxShims_dirent_name(entry), strcmp(name, ".") != 0, strcmp(name, "..") != 0 else {
                continue
            }
            if unlinkat(raw, name, 0) == 0 || unlinkat(raw, name, AT_REMOVEDIR) == 0 {
                step = .removedSome
                continue
            }
            if renameat(raw, name, AT_FDCWD, fresh) == 0 { return .moved(fresh) }
            // A folder without write permission cannot be moved: its `..` changes.
            if isFolder(raw, name), fchmodat(raw, name, 0o700, 0) == 0, renameat(raw, name, AT_FDCWD, fresh) == 0 {
                return .moved(fresh)
            }
        }
        return step
    }

    private static func openFolder(_ path: String) -> Int32 {
        open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    }

    private static func isFolder(_ folder: Int32, _ name: UnsafePointer<CChar>) -> Bool {
        var status = stat()
        return fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}
