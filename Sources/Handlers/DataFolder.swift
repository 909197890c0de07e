import Glibc
package import SystemPackage

/// A handler's own folder, `handler-data/IDENTIFIER`, where it may write and which outlives its calls and its bundle.
package enum DataFolder {
    /// Makes the folder, 0700, and those above it if they are missing. Blocks on the disk.
    ///
    /// - Throws: `Errno`; `notDirectory` for anything else that is there, a link among it, and `permissionDenied` for a
    ///   folder of somebody else's.
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

    /// What cannot be made is told when the folder itself is.
    private static func makeParents(of path: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.startIndex else { return }
        let parent = String(path[..<slash])
        if mkdir(parent, 0o700) == 0 || errno != ENOENT { return }
        makeParents(of: parent)
        mkdir(parent, 0o700)
    }

    /// Removes the folder with all that a handler has written, however deep that is. Blocks on the disk.
    ///
    /// - Throws: `Errno`, if it cannot be taken away from its place.
    package static func remove(_ path: String) throws(Errno) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { throw .invalidArgument }
        // Under a name that no identifier is: what lies deep in it is moved up beside it.
        var template = Array((path[..<slash] + "/.removed.XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw Errno(rawValue: errno) }
        let aside = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        let isMoved = rename(path, aside) == 0
        let cause = Errno(rawValue: errno)
        TreeRemoval.remove(aside)
        guard isMoved else { throw cause }
    }
}
