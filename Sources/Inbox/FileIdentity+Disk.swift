import Glibc
package import Sharing
import SystemCalls

extension FileIdentity {
    /// - Parameter name: in the folder; a link is looked at itself.
    static func of(_ name: String, in folder: Int32) throws(SystemError) -> FileIdentity {
        var status = stat()
        try systemCall { fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) }
        return FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }
}

extension FileInbox {
    package func find(_ identities: Set<FileIdentity>) throws(TransferFault) -> [FileIdentity: StoredItem] {
        guard !identities.isEmpty else { return [:] }
        let inbox = try currentInbox()
        do {
            var found: [FileIdentity: StoredItem] = [:]
            var contents = try FolderContents.make(of: inbox.raw)
            while let name = try contents.next() {
                let text = String(cString: name)
                // Gone, or not a name of ours.
                guard let safe = try? SafeName(text), let identity = try? FileIdentity.of(text, in: inbox.raw) else {
                    continue
                }
                if identities.contains(identity) {
                    found[identity] = StoredItem(name: safe, path: path + "/" + text)
                }
            }
            return found
        } catch {
            throw .disk("cannot read the Inbox", path, error, on: inbox.raw)
        }
    }
}
