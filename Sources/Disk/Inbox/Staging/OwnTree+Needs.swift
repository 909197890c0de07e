import Glibc
import Sharing
import SystemCalls

extension OwnTree {
    /// What the folder `name` of `holder`, with all its contents, needs of the disk to which it is copied. Looks only at
    /// names and kinds.
    ///
    /// - Parameter isSealed: whether files are copied under their own names.
    static func needs(_ name: String, in holder: Int32, isSealed: Bool) throws(SystemError) -> DiskNeeds {
        var needs = DiskNeeds()
        var alike = AlikeNames()
        try add(name, in: holder, isSealed, depth: 0, &needs, &alike)
        return needs
    }

    private static func add(
        _ name: UnsafePointer<CChar>, in holder: Int32, _ isSealed: Bool, depth: Int, _ needs: inout DiskNeeds,
        _ alike: inout AlikeNames
    ) throws(SystemError) {
        // The copy refuses what is deeper.
        guard depth <= SafeRelativePath.maximumDepth else { return }
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        let folder = FileDescriptor(owning: try systemCall { openat(holder, name, flags) })
        var contents = try FolderContents.make(of: folder.raw)
        alike.enter()
        while let name = try contents.next() {
            var status = stat()
            try systemCall { fstatat(folder.raw, name, &status, AT_SYMLINK_NOFOLLOW) }
            let kind = status.st_mode & S_IFMT
            let text = String(cString: name)
            let own = isSealed && kind == S_IFREG ? SealedName.own(text) ?? text : text
            needs.add(own, isFile: kind == S_IFREG)
            if alike.add(own) { needs.alike = true }
            if kind == S_IFLNK { needs.links = true }
            if kind == S_IFDIR { try add(name, in: folder.raw, isSealed, depth: depth + 1, &needs, &alike) }
        }
        alike.leave()
    }
}
