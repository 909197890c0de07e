import Glibc
package import SystemPackage

/// A handler's data folder, `handler-data/IDENTIFIER`: it may write there, and the folder outlives calls and bundle.
package enum DataFolder {
    /// Makes the folder, 0700, and those above it if they are missing. Blocks on the disk.
    ///
    /// - Throws: `Errno`; `notDirectory` for any other kind of file, such as a link; `permissionDenied` if the folder
    ///   belongs to another user.
    static func make(_ path: String) throws(Errno) {
        if mkdir(path, 0o700) == 0 { return }
        switch errno {
        case EEXIST: break
        case ENOENT:
            makeParents(of: path)
            guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw Errno(rawValue: errno) }
        default: throw Errno(rawValue: errno)
        }
        var status = stat()
        guard lstat(path, &status) == 0 else { throw Errno(rawValue: errno) }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw .notDirectory }
        guard status.st_uid == geteuid() else { throw .permissionDenied }
    }

    /// Ignores errors: making the folder itself reports them.
    private static func makeParents(of path: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.startIndex else { return }
        let parent = String(path[..<slash])
        if mkdir(parent, 0o700) == 0 || errno != ENOENT { return }
        makeParents(of: parent)
        mkdir(parent, 0o700)
    }

    /// Removes the folder with all that it contains, at any depth. Blocks on the disk.
    ///
    /// - Throws: `Errno` if it cannot be renamed.
    package static func remove(_ path: String) throws(Errno) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { throw .invalidArgument }
        // No identifier has this name. `TreeRemoval` moves deep folders to names beside it.
        var template = Array((path[..<slash] + "/.removed.XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw Errno(rawValue: errno) }
        let aside = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        let isMoved = rename(path, aside) == 0
        let cause = Errno(rawValue: errno)
        TreeRemoval.remove(aside)
        guard isMoved else { throw cause }
    }
}
