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
    package func find(
        _ identities: Set<FileIdentity>, in folders: Set<SafeRelativePath>
    ) throws(TransferFault) -> [FileIdentity: StoredItem] {
        guard !identities.isEmpty else { return [:] }
        let inbox = try currentInbox()
        do {
            var found = try Self.find(identities, in: inbox, at: path)
            for folder in folders {
                // Where it cannot be opened, nothing of ours lies in it.
                guard let open = try? staging.opening.open(folder.text, below: inbox.raw, flags: O_RDONLY | O_DIRECTORY)
                else { continue }
                found.merge(try Self.find(identities, in: OpenFolder(open), at: "\(path)/\(folder)")) { first, _ in
                    first
                }
            }
            return found
        } catch {
            throw .disk("cannot read the Inbox", path, error, on: inbox.raw)
        }
    }

    private static func find(
        _ identities: Set<FileIdentity>, in folder: OpenFolder, at path: String
    ) throws(SystemError) -> [FileIdentity: StoredItem] {
        var found: [FileIdentity: StoredItem] = [:]
        var contents = try FolderContents.make(of: folder.raw)
        while let name = try contents.next() {
            let text = String(cString: name)
            // Gone, or not a name of ours.
            guard let safe = try? SafeName(text), let identity = try? FileIdentity.of(text, in: folder.raw) else {
                continue
            }
            if identities.contains(identity) { found[identity] = StoredItem(name: safe, path: path + "/" + text) }
        }
        return found
    }
}
