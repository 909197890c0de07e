import Glibc
import Sharing
import SystemCalls

/// The name of an item, in the open folder that holds it.
struct FolderEntry {
    let folder: OpenFolder
    let name: String
    let path: String

    /// Opens the folder that holds `path`. Links on the way to the Inbox are followed, since it is the user's own;
    /// links below it are not.
    ///
    /// - Parameters:
    ///   - path: absolute path under which something was stored.
    ///   - inbox: the Inbox's present path. A `path` that is not below it was stored in an Inbox at another place.
    /// - Throws: `ENOENT` if the folder is gone; `ELOOP` or `ENOTDIR` if something else is in its place.
    init(_ path: String, inbox: String) throws(SystemError) {
        self.path = path
        name = SmallFile.name(of: path)
        guard !name.isEmpty, name != ".", name != ".." else { throw SystemError(EINVAL) }
        let holder = SmallFile.folder(of: path)
        if let below = PathText.part(of: holder, below: inbox) {
            let root = try FileDescriptor.opening(inbox, O_RDONLY | O_DIRECTORY)
            folder = OpenFolder(
                try BeneathOpening.inOneCall.open(below, below: root.raw, flags: O_RDONLY | O_DIRECTORY))
        } else {
            folder = OpenFolder(try FileDescriptor.opening(holder, O_RDONLY | O_DIRECTORY))
        }
    }

    /// The status of the entry; a link is not followed.
    func status() throws(SystemError) -> stat {
        var status = stat()
        try systemCall { fstatat(folder.raw, name, &status, AT_SYMLINK_NOFOLLOW) }
        return status
    }
}
