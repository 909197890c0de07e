import Glibc
package import Sharing
import SystemCalls

extension FileIdentity {
    /// - Parameter name: a name in the folder; a link is not followed.
    static func of(_ name: String, in folder: Int32) throws(SystemError) -> FileIdentity {
        var status = stat()
        try systemCall { fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) }
        return FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }
}

extension FileInbox {
    package func find(
        _ identities: Set<FileIdentity>, in folders: Set<SafeRelativePath>
    ) throws(TransferError) -> [FileIdentity: StoredItem] {
        guard !identities.isEmpty else { return [:] }
        let inbox = try currentInbox()
        do {
            var found = try Self.find(identities, in: inbox, at: path)
            for folder in folders {
                // If the folder cannot be opened, it holds no item of ours.
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

    /// Syncs the names: everything visible in the Inbox and in these folders below it survives a power cut after this.
    /// - Throws: `storage` if a folder cannot be opened or synced.
    package func syncNames(in folders: Set<SafeRelativePath>) throws(TransferError) {
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
        // A disk can have another number after a reboot; its inodes keep theirs. The recorded identities were read on
        // this disk, because a rename into the Inbox starts on the same disk. The caller compares the names.
        let byInode = Dictionary(identities.map { ($0.inode, $0) }) { first, _ in first }
        var found: [FileIdentity: StoredItem] = [:]
        var contents = try FolderContents.make(of: folder.raw)
        while let name = try contents.next() {
            let text = String(cString: name)
            // The entry is gone, or its name is not one of ours.
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
