import Glibc
import Sharing
import Synchronization
import SystemCalls

extension StagedFiles {
    func makeFolder(_ path: SafeRelativePath) throws(TransferError) {
        try state.withLock { state throws(TransferError) in
            try check(state)
            try staging.aboutToMake(path.text)
            let (folder, name) = try place(of: path, what: "cannot make the folder", &state)
            do throws(SystemError) {
                // Writable, unlike files, so that a tree can be moved out and deleted; the kernel applies the umask.
                if !isKeptFolder(path, name, in: folder.raw, state) {
                    try replacing(path, name, in: folder.raw, state) { () throws(SystemError) in
                        try systemCall { mkdirat(folder.raw, name, 0o755) }
                    }
                }
            } catch {
                throw .creating(
                    "cannot make the folder", path.text, error, in: staging, isSealed: sealing != nil)
            }
            state.add(path)
            state.sealedListing?.folder(path)
            try limitListing(&state)
        }
    }

    func makeLink(_ path: SafeRelativePath, target: SafeLinkTarget) throws(TransferError) {
        try state.withLock { state throws(TransferError) in
            try check(state)
            guard staging.abilities.hasLinks else {
                throw TransferError(
                    .unsafeName, "cannot make the link \(path): \(DiskAbilities.noLinks(DiskAbilities.inboxDisk))")
            }
            try staging.aboutToMake(path.text)
            let (folder, name) = try place(of: path, what: "cannot make the link", &state)
            do throws(SystemError) {
                try replacing(path, name, in: folder.raw, state) { () throws(SystemError) in
                    try systemCall { symlinkat(target.text, folder.raw, name) }
                }
            } catch {
                throw .creating(
                    "cannot make the link", path.text, error, in: staging, isSealed: sealing != nil)
            }
            // A link is synced with its folder, so its own place is not remembered.
            state.add(nil)
            state.came?.insert(KeptFile.pathHash(path))
            state.sealedListing?.link(path, target: target)
            try limitListing(&state)
        }
    }

    func closeFolder(_ path: SafeRelativePath?, modified: Timestamp?) throws(TransferError) {
        try state.withLock { state throws(TransferError) in
            try check(state)
            guard isTree else { throw TransferError(.unexpected, "cannot close a folder: the item is one file") }
            if modified != nil {
                let folder = try open(path, what: "cannot close the folder", display(path), &state)
                // As with files, a time that cannot be stored does no harm.
                _ = FileTimes.set(modified, of: folder.raw)
            }
            if path == nil { state.folder = nil }
        }
    }

    /// The open folder in which `path` is to be created, and its name there.
    func place(
        of path: SafeRelativePath?,
        what: String,
        _ state: inout State
    ) throws(TransferError) -> (OpenFolder, String) {
        guard let path else {
            if isTree { throw TransferError(.unsafeName, "\(what) a file that is the item: the item is a folder") }
            return (staging.folder, name)
        }
        guard isTree else { throw TransferError(.unsafeName, "\(what) \(path): the item is one file") }
        // Most files are in the same folder as the last one.
        if state.came == nil, let folder = state.folder, path.lies(in: folder.path) { return (folder.open, path.name) }
        if let parent = path.parent, let came = state.came, !came.contains(KeptFile.pathHash(parent)) {
            // The entry there is from an earlier attempt, and perhaps no longer a folder.
            throw TransferError(.unsafeName, "\(what) \(path): its folder does not exist")
        }
        return (try open(path.parent, what: what, path.text, &state), path.name)
    }

    private func open(
        _ path: SafeRelativePath?,
        what: String,
        _ display: String,
        _ state: inout State
    ) throws(TransferError) -> OpenFolder {
        // Compare bytes: two names that Swift's strings treat as equal may be two names on the disk.
        if let folder = state.folder, sameBytes(folder.path?.text, path?.text) { return folder.open }
        do throws(SystemError) {
            let below = path.map { "\(name)/\($0)" } ?? name
            let flags = O_RDONLY | O_DIRECTORY
            let folder = OpenFolder(try staging.opening.open(below, below: staging.folder.raw, flags: flags))
            state.folder = (path, folder)
            return folder
        } catch {
            throw .creating(what, display, error, in: staging)
        }
    }

    private func sameBytes(_ first: String?, _ second: String?) -> Bool {
        guard let first, let second else { return first == nil && second == nil }
        return first.utf8.elementsEqual(second.utf8)
    }
}
