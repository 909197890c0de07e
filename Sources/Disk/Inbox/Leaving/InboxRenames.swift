import Glibc
package import Sharing
import SystemCalls

/// Finds items that their user has renamed, or moved inside the Inbox. It needs no receiver, takes no lock, and changes
/// nothing.
///
/// An item is known again by its inode together with the transfer in its attributes: an inode alone can be that of a file
/// that another program has made since. Without attributes on the file system nothing is found.
package enum InboxRenames {
    /// Most entries of the Inbox that are looked at.
    private static let maximumEntries = 100_000
    private static let maximumDepth = 32

    /// - Parameters:
    ///   - items: all items of the Inbox according to the journal.
    ///   - inbox: absolute path of the Inbox.
    /// - Returns: the new places of those that are no longer at theirs. An item whose place another program's file has taken
    ///   stays there: editors replace files so.
    package static func find(_ items: [JournaledItem], inbox: String) -> [ArrivalNumber: StoredItem] {
        let byInode = Dictionary(items.map { ($0.identity.inode, $0) }) { first, _ in first }
        let lost = items.filter { isLost($0, byInode, inbox: inbox) }
        guard !lost.isEmpty, let root = try? FileDescriptor.opening(inbox, O_RDONLY | O_DIRECTORY) else { return [:] }
        var search = Search(
            lost: Dictionary(lost.map { ($0.identity.inode, $0) }) { first, _ in first },
            trees: Set(items.lazy.filter { $0.kind == .tree }.map(\.identity.inode)))
        search.look(in: root.raw, at: inbox, depth: 0)
        return search.found
    }

    private static func isLost(_ item: JournaledItem, _ byInode: [UInt64: JournaledItem], inbox: String) -> Bool {
        // Items of an Inbox at another place are not looked for here.
        guard PathText.part(of: item.stored.path, below: inbox) != nil else { return false }
        var status = stat()
        guard lstat(item.stored.path, &status) == 0 else { return errno == ENOENT || errno == ENOTDIR }
        guard status.st_ino != item.identity.inode else { return false }
        // Another item has this place: the user has exchanged two names.
        return byInode[UInt64(status.st_ino)].map { isThat($0, item.stored.path, status) } ?? false
    }

    private static func isThat(_ item: JournaledItem, _ path: String, _ status: stat) -> Bool {
        status.st_mode & S_IFMT == (item.kind == .tree ? S_IFDIR : S_IFREG)
            && ExtendedAttributes.read(Provenance.transfer, of: path) == Array(item.transfer.text.utf8)
    }

    private struct Search {
        let lost: [UInt64: JournaledItem]
        let trees: Set<UInt64>
        var found: [ArrivalNumber: StoredItem] = [:]
        var seen = 0

        mutating func look(in folder: Int32, at path: String, depth: Int) {
            guard depth < maximumDepth, var contents = try? FolderContents.make(of: folder) else { return }
            while seen < maximumEntries, found.count < lost.count, let bytes = try? contents.next() {
                seen += 1
                var status = stat()
                // The user of the Inbox can have given a name that Waft does not take.
                guard fstatat(folder, bytes, &status, AT_SYMLINK_NOFOLLOW) == 0,
                    let name = try? SafeName(String(cString: bytes)),
                    depth > 0 || name.text != StagingFolder.name && name.text != InboxMark.name
                else { continue }
                let place = PathText.joined(path, name.text)
                let inode = UInt64(status.st_ino)
                if let item = lost[inode], found[item.number] == nil, isThat(item, place, status) {
                    found[item.number] = StoredItem(name: name, path: place).named(asSealed: item.isSealedFile)
                } else if status.st_mode & S_IFMT == S_IFDIR, !trees.contains(inode),
                    let below = try? BeneathOpening.inOneCall.open(
                        name.text, below: folder, flags: O_RDONLY | O_DIRECTORY)
                {
                    look(in: below.raw, at: place, depth: depth + 1)
                }
            }
        }
    }
}
