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
                guard let open = try? opening.open(folder.text, below: inbox.raw, flags: O_RDONLY | O_DIRECTORY)
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

    /// What can be seen in the Inbox and in these folders below it is there after a power cut too.
    /// - Throws: `storage` where that cannot be said.
    package func syncNames(in folders: Set<SafeRelativePath>) throws(TransferFault) {
        var below = InboxFolders(of: try currentInbox(), at: path, opening: opening)
        try below.sync(nil).get()
        for folder in folders where below.isThere(folder) {
            _ = try below.open(folder)
            try below.sync(folder).get()
        }
    }

    private static func find(
        _ identities: Set<FileIdentity>, in folder: OpenFolder, at path: String
    ) throws(SystemError) -> [FileIdentity: StoredItem] {
        // A disk can have another number after a reboot, its inodes cannot. What was noted was noted of this disk: only
        // from there a rename leads here. Who calls holds the names against each other.
        let byInode = Dictionary(identities.map { ($0.inode, $0) }) { first, _ in first }
        var found: [FileIdentity: StoredItem] = [:]
        var contents = try FolderContents.make(of: folder.raw)
        while let name = try contents.next() {
            let text = String(cString: name)
            // Gone, or not a name of ours.
            guard let safe = try? SafeName(text), let identity = try? FileIdentity.of(text, in: folder.raw) else {
                continue
            }
            let stored = StoredItem(name: safe, path: path + "/" + text)
            if identities.contains(identity) {
                found[identity] = stored
            } else if let renumbered = byInode[identity.inode], found[renumbered] == nil {
                found[renumbered] = stored
            }
        }
        return found
    }
}
