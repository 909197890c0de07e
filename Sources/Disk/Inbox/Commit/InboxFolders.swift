import Glibc
import Sharing
import SystemCalls

/// The Inbox and the folders below it that a batch uses. Each is opened once and created if it is missing.
struct InboxFolders {
    private let inbox: OpenFolder
    /// Absolute path of the Inbox.
    private let path: String
    private let opening: BeneathOpening
    private var opened: [SafeRelativePath: Result<OpenFolder, TransferError>] = [:]
    private var synced: [SafeRelativePath?: Result<Void, TransferError>] = [:]

    init(of inbox: OpenFolder, at path: String, opening: BeneathOpening) {
        self.inbox = inbox
        self.path = path
        self.opening = opening
    }

    func path(of folder: SafeRelativePath?) -> String {
        folder.map { "\(path)/\($0)" } ?? path
    }

    func isThere(_ folder: SafeRelativePath) -> Bool {
        (try? opening.open(folder.text, below: inbox.raw, flags: O_RDONLY | O_DIRECTORY)) != nil
    }

    /// - Parameter folder: below the Inbox; nil for the Inbox. Its links are not followed: they could lead outside.
    /// - Throws: `storage` or `noRoom` if it can be neither opened nor created.
    mutating func open(_ folder: SafeRelativePath?) throws(TransferError) -> OpenFolder {
        guard let folder else { return inbox }
        if let known = opened[folder] { return try known.get() }
        let result = Result { () throws(TransferError) in try openOrMake(folder) }
        opened[folder] = result
        return try result.get()
    }

    private func openOrMake(_ folder: SafeRelativePath) throws(TransferError) -> OpenFolder {
        let names = PathText.names(in: folder.text).map(String.init)
        // If staging is in the Inbox, the next sweep would delete everything stored there.
        if names.first == StagingFolder.name || names.first == InboxMark.name {
            throw TransferError(.storage, "cannot store in \(folder) below the Inbox: that name is Waft's own")
        }
        do throws(SystemError) {
            let flags = O_RDONLY | O_DIRECTORY
            var holder = inbox
            for name in names {
                let next: OpenFolder
                if let open = try? opening.open(name, below: holder.raw, flags: flags) {
                    next = OpenFolder(open)
                } else {
                    if mkdirat(holder.raw, name, 0o700) != 0, errno != EEXIST { throw .last }
                    next = OpenFolder(try opening.open(name, below: holder.raw, flags: flags))
                }
                // If a crash removed the new folder, its items would go with it. Existing folders are synced too: the
                // process that created one may have died before its sync.
                fsync(holder.raw)
                holder = next
            }
            return holder
        } catch {
            if [ENOTDIR, ELOOP].contains(error.number) {
                throw TransferError(
                    .storage, "cannot store in \(folder) below the Inbox: something that is not a folder has this name")
            }
            throw .disk("cannot make the folder", folder.text, error, on: inbox.raw)
        }
    }

    /// After this the names in the folder are on the disk. Later calls return the first result.
    mutating func sync(_ folder: SafeRelativePath?) -> Result<Void, TransferError> {
        if let known = synced[folder] { return known }
        let result = Result { () throws(TransferError) in
            let open = try open(folder)
            do throws(SystemError) {
                try open.syncNames()
            } catch {
                throw .disk("cannot sync the Inbox", path(of: folder), error, on: open.raw)
            }
        }
        synced[folder] = result
        return result
    }
}
