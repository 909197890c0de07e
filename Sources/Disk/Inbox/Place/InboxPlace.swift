import Glibc
import Sharing
import SystemCalls

/// The one name under which an item lies, in the open folder that holds it.
struct InboxPlace {
    let folder: OpenFolder
    let name: String
    let path: String

    /// Opens the folder that holds `path`. Links on the way to the Inbox are followed, since it is the user's own; below
    /// it none is.
    ///
    /// - Parameters:
    ///   - path: where something was stored: absolute.
    ///   - inbox: where the Inbox lies now. What is not below that lay in an Inbox at another place.
    /// - Throws: `ENOENT` where the folder is gone; `ELOOP` or `ENOTDIR` where something else is in its place.
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

    /// What lies there, a link itself being looked at.
    func status() throws(SystemError) -> stat {
        var status = stat()
        try systemCall { fstatat(folder.raw, name, &status, AT_SYMLINK_NOFOLLOW) }
        return status
    }
}
