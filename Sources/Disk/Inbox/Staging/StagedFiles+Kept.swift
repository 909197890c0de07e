import Glibc
import Sharing
import Synchronization
import SystemCalls

// The remains of an item from an earlier attempt, and their use when the item comes again.
extension StagedFiles {
    /// Bytes per read.
    private static let pieceBytes = 256 << 10

    func resumeFile(
        _ entry: FileEntry, contents: (UnsafeRawBufferPointer) -> Void
    ) throws(TransferError) {
        if let sealing { return try resumeSealed(entry, sealing, contents: contents) }
        try state.withLock { state throws(TransferError) in
            try check(state)
            let display = display(entry.path)
            let (folder, name) = try place(of: entry.path, what: "cannot resume", &state)
            guard mayResume(entry, state) else { throw Self.notKept(display) }
            var file: WritingFile
            do throws(SystemError) {
                let kept = try Self.reopen(name, in: folder.raw, entry)
                file = WritingFile(kept, entry: entry, displayPath: display)
            } catch  where Self.meansNotKept(error) {
                throw Self.notKept(display)
            } catch {
                throw .disk("cannot resume", display, error, on: staging.folder.raw)
            }
            do throws(SystemError) {
                try Self.read(file.descriptor.raw, upTo: entry.offset, contents)
                // This also frees the room reserved for its rest: the new file may be another one.
                try systemCall { ftruncate(file.descriptor.raw, off_t(clamping: entry.offset)) }
                try systemCall { lseek(file.descriptor.raw, off_t(clamping: entry.offset), SEEK_SET) }
            } catch {
                throw .disk("cannot resume", display, error, on: staging.folder.raw)
            }
            try checkRoom(for: entry, display)
            do throws(SystemError) {
                file.roomTaken = try takeRoom(for: entry, in: file.descriptor.raw)
            } catch {
                throw .disk("cannot store", "\(display) (\(entry.size ?? 0) bytes)", error, on: staging.folder.raw)
            }
            state.file = consume file
            state.add(entry.path)
        }
    }

    /// Whether the entry of an earlier attempt may be taken over: nothing of this attempt is in its place.
    func mayResume(_ entry: FileEntry, _ state: borrowing State) -> Bool {
        isKept && state.came?.contains(KeptFile.pathHash(entry.path)) != true && (isTree || state.entryCount == 0)
    }

    /// Whether an error of `reopen` means that there is no such file.
    static func meansNotKept(_ error: SystemError) -> Bool {
        [ENOENT, ELOOP, ENOTDIR, ENXIO, EISDIR].contains(error.number)
    }

    static func notKept(_ display: String) -> TransferError {
        TransferError(.notKept, "the kept part of \(display) is gone")
    }

    /// Opens a file for writing that was made read-only when it began.
    /// - Throws: `ENXIO` if it is no file, or shorter than the offset at which it is resumed.
    static func reopen(
        _ name: String, in folder: Int32, _ entry: FileEntry
    ) throws(SystemError) -> FileDescriptor {
        let flags = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
        let old = FileDescriptor(owning: try systemCall { openat(folder, name, O_RDONLY | flags) })
        var status = stat()
        try systemCall { fstat(old.raw, &status) }
        // A file with a second name is in the Inbox too: a crash came between the two steps of `Placement`.
        guard status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1,
            UInt64(max(0, status.st_size)) >= entry.offset
        else { throw SystemError(ENXIO) }
        try systemCall { fchmod(old.raw, 0o600) }
        let file = FileDescriptor(owning: try systemCall { openat(folder, name, O_RDWR | flags) })
        // Keep the read permissions, which reflect the umask of that time. Changed modes do not close the descriptor.
        let readable = status.st_mode & 0o444 | 0o400
        try systemCall { fchmod(file.raw, entry.executable ? readable | readable >> 2 : readable) }
        return file
    }

    /// - Throws: `EIO` if it has become shorter.
    private static func read(
        _ file: Int32, upTo count: UInt64, _ contents: (UnsafeRawBufferPointer) -> Void
    ) throws(SystemError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceBytes, alignment: 4_096)
        defer { buffer.deallocate() }
        var offset: UInt64 = 0
        while offset < count {
            let most = Int(min(UInt64(buffer.count), count - offset))
            let read = try systemCall { pread(file, buffer.baseAddress, most, off_t(clamping: offset)) }
            if read == 0 { throw SystemError(EIO) }
            contents(UnsafeRawBufferPointer(rebasing: buffer[..<read]))
            offset += UInt64(read)
        }
    }

    // MARK: Entries that come again

    /// Makes an entry. If a kept entry that has not come again is in its place, replaces that one.
    @discardableResult
    func replacing<Result>(
        _ path: SafeRelativePath?, _ name: String, in folder: Int32, _ state: borrowing State,
        _ make: () throws(SystemError) -> Result
    ) throws(SystemError) -> Result {
        do {
            return try make()
        } catch  where error.number == EEXIST && isOnlyKept(path, state) {
            if unlinkat(folder, name, 0) != 0 {
                // A folder with its contents.
                let removed = staging.freshName("removed")
                try systemCall { renameat(folder, name, staging.folder.raw, removed) }
                staging.remove(removed)
            }
            return try make()
        }
    }

    private func isOnlyKept(_ path: SafeRelativePath?, _ state: borrowing State) -> Bool {
        guard isKept else { return false }
        guard let came = state.came else { return state.entryCount == 0 }
        return !came.contains(KeptFile.pathHash(path))
    }

    /// Whether a kept folder exists there that can be used, with its contents.
    func isKeptFolder(
        _ path: SafeRelativePath, _ name: String, in folder: Int32, _ state: borrowing State
    ) -> Bool {
        guard isOnlyKept(path, state) else { return false }
        var status = stat()
        return fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    // MARK: Entries that do not come again

    func removeLeftovers() throws(TransferError) {
        try state.withLock { state throws(TransferError) in
            try check(state)
            guard let came = state.came else { return }
            state.folder = nil
            do throws(SystemError) {
                var folders: [String?] = [nil]
                while let folder = folders.popLast() {
                    folders += try removeLeftovers(in: folder, came)
                }
            } catch {
                throw .disk("cannot remove the kept part of", "a tree", error, on: staging.folder.raw)
            }
        }
    }

    /// - Parameter folder: its path in the item; nil for the item itself.
    /// - Returns: the folders in it that have come again.
    private func removeLeftovers(in folder: String?, _ came: Set<UInt64>) throws(SystemError) -> [String] {
        let open = try staging.opening.open(
            folder.map { "\(name)/\($0)" } ?? name, below: staging.folder.raw, flags: O_RDONLY | O_DIRECTORY)
        var before = stat()
        try systemCall { fstat(open.raw, &before) }
        var folders: [String] = []
        var leftovers: [String] = []
        var contents = try FolderContents.make(of: open.raw)
        while let entry = try contents.next() {
            // A name that is not UTF-8 was never received.
            guard let text = String(validatingCString: entry) else {
                if unlinkat(open.raw, entry, 0) != 0 { throw .last }
                continue
            }
            var status = stat()
            try systemCall { fstatat(open.raw, entry, &status, AT_SYMLINK_NOFOLLOW) }
            // A sealed file has its own name and an ending.
            let isSealed = sealing != nil && status.st_mode & S_IFMT == S_IFREG
            let own = isSealed ? SealedName.own(text) : text
            let path = own.map { own in folder.map { "\($0)/\(own)" } ?? own }
            guard let path, came.contains(KeptFile.pathHash(path)) else {
                leftovers.append(text)
                continue
            }
            if status.st_mode & S_IFMT == S_IFDIR { folders.append(path) }
        }
        for leftover in leftovers where unlinkat(open.raw, leftover, 0) != 0 {
            let removed = staging.freshName("removed")
            try systemCall { renameat(open.raw, leftover, staging.folder.raw, removed) }
            staging.remove(removed)
        }
        if !leftovers.isEmpty {
            // Restore the folder's time, which was set when it was closed.
            let times = (before.st_atim, before.st_mtim)
            withUnsafeBytes(of: times) { _ = futimens(open.raw, $0.assumingMemoryBound(to: timespec.self).baseAddress) }
        }
        return folders
    }
}
