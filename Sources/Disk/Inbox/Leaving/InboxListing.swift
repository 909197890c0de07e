import Glibc
package import Sharing
import SystemCalls

/// The entries of an Inbox, for people and programs that look into it. It needs no receiver and takes no lock.
package enum InboxListing {
    /// Something in an Inbox: from a receiver or from another program.
    package struct Entry: Hashable, Sendable {
        package enum Kind: String, Hashable, Sendable {
            case file
            case folder
            /// A symbolic link to any target.
            case link
            /// A device, a socket, a named pipe.
            case other
        }

        /// Its name in the folder: neither checked nor escaped. Bytes that are not UTF-8 become U+FFFD.
        package var name: String
        package var path: String
        package var kind: Kind
        /// Bytes of a file; nil for everything else.
        package var size: UInt64?
        package var modified: Timestamp
        /// A receiver's finding on a file whose content contradicts its name; nil for all others. Not escaped.
        package var mark: String?

        package init(
            name: String, path: String, kind: Kind, size: UInt64? = nil, modified: Timestamp, mark: String? = nil
        ) {
            self.name = name
            self.path = path
            self.kind = kind
            self.size = size
            self.modified = modified
            self.mark = mark
        }
    }

    /// All entries of the Inbox at `path` except the staging folder and the mark, in the order of the bytes of their
    /// names; empty if there is no Inbox yet. Entries that vanish meanwhile are left out.
    ///
    /// - Throws: `InboxError` if the path exists and cannot be read as a folder.
    package static func entries(at path: String) throws(InboxError) -> [Entry] {
        do {
            return try read(path).sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        } catch  where error.number == ENOENT {
            return []
        } catch {
            throw .unusable("cannot read the Inbox", path, "\(error)", advice: "check its path and its permissions")
        }
    }

    private static func read(_ path: String) throws(SystemError) -> [Entry] {
        let folder = FileDescriptor(owning: try systemCall { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
        var contents = try FolderContents.make(of: folder.raw)
        var entries: [Entry] = []
        while let bytes = try contents.next() {
            var status = stat()
            guard fstatat(folder.raw, bytes, &status, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
            let name = String(cString: bytes)
            if name == StagingFolder.name || name == InboxMark.name { continue }
            entries.append(entry(name, PathText.joined(path, name), status))
        }
        return entries
    }

    /// The entry at an absolute path in an Inbox or in a folder of an Inbox; nil if nothing is there.
    package static func entry(at path: String) -> Entry? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        return entry(PathText.lastName(of: path), path, status)
    }

    private static func entry(_ name: String, _ path: String, _ status: stat) -> Entry {
        let kind = Entry.Kind(mode: status.st_mode)
        return Entry(
            name: name,
            path: path,
            kind: kind,
            size: kind == .file ? UInt64(max(0, status.st_size)) : nil,
            modified: Timestamp(status.st_mtim),
            mark: kind == .file ? ContentMark.read(path) : nil
        )
    }
}

extension InboxListing.Entry.Kind {
    fileprivate init(mode: mode_t) {
        switch mode & S_IFMT {
        case S_IFREG: self = .file
        case S_IFDIR: self = .folder
        case S_IFLNK: self = .link
        default: self = .other
        }
    }
}
