import CLinuxShims
import Glibc
import Sharing
import Synchronization
import SystemCalls

extension StagedFiles {
    func beginFile(_ entry: FileEntry) throws(TransferError) {
        try state.withLock { state throws(TransferError) in
            try check(state)
            let display = display(entry.path)
            try staging.aboutToMake(display)
            try checkRoom(for: entry, display)
            let (folder, name) = try filePlace(of: entry.path, what: "cannot create", &state)
            // The kernel applies the umask (or the folder's default ACL): this needs no second call, and no race to
            // find the umask out. A mode that forbids writing does not bind the descriptor that creates the file.
            let mode: mode_t = entry.executable ? 0o555 : 0o444
            // To be read too: for the check of its contents.
            let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
            var file: WritingFile
            do throws(SystemError) {
                let raw = try replacing(entry.path, name, in: folder.raw, state) { () throws(SystemError) in
                    try systemCall { openat(folder.raw, name, flags, mode) }
                }
                let descriptor = FileDescriptor(owning: raw)
                let gathers = gathers(entry)
                if !gathers, let sealer = try sealing?.makeSealer() {
                    file = WritingFile(descriptor, entry: entry, displayPath: display, sealer: sealer)
                } else {
                    file = WritingFile(
                        descriptor, entry: entry, displayPath: display, gathers: gathers, sealing: sealing)
                }
            } catch {
                // An item that is a single file has no folder that the sender could have left out.
                if entry.path == nil, error.number == ENOENT {
                    throw .disk("cannot create", display, error, on: staging.folder.raw)
                }
                throw .creating(
                    "cannot create", display, error, in: staging, isSealed: sealing != nil)
            }
            do throws(SystemError) {
                file.roomTaken = try takeRoom(for: entry, in: file.descriptor.raw)
                try file.begin { staging.partials.removeOldest() }
            } catch {
                unlinkat(folder.raw, name, 0)
                throw .disk("cannot store", "\(display) (\(entry.size ?? 0) bytes)", error, on: staging.folder.raw)
            }
            state.file = consume file
            state.add(entry.path)
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(TransferError) {
        try state.withLock { state throws(TransferError) in
            guard state.phase == .writing else { throw Self.goneFault }
            guard state.file != nil else { throw TransferError(.unexpected, "no file is open to write to") }
            try sealing?.check()
            do throws(SystemError) {
                try state.file?.write(bytes) { staging.partials.removeOldest() }
            } catch {
                let path = display(state.file?.entry.path)
                throw .disk("cannot write", path, error, on: staging.folder.raw)
            }
            try look(after: bytes.count, &state)
        }
    }

    func endFile() throws(TransferError) {
        try state.withLock { state throws(TransferError) in
            guard state.phase == .writing else { throw Self.goneFault }
            guard let file = state.file.take() else { throw TransferError(.unexpected, "no file is open to end") }
            let display = file.displayPath
            if isTree { staging.earlySync?.wrote(file.unstartedBytes) }
            let entry = file.entry
            var end: WritingFile.End
            do throws(SystemError) {
                end = try file.end(staysOpen: !isTree) { staging.partials.removeOldest() }
            } catch {
                throw .disk("cannot write", display, error, on: staging.folder.raw)
            }
            state.item = end.open.take()
            if let sealing { try note(&end, entry, sealing, &state) }
            guard let rest = end.rest else { return }
            do throws(WriteBehindQueue.WriteError) {
                try behind.add(rest)
            } catch {
                throw fault(error)
            }
        }
    }

    func dropFile() throws(TransferError) {
        try state.withLock { state throws(TransferError) in
            guard state.phase == .writing else { throw Self.goneFault }
            guard let file = state.file.take() else { throw TransferError(.unexpected, "no file is open to drop") }
            let (folder, name) = try filePlace(of: file.entry.path, what: "cannot remove", &state)
            do throws(SystemError) {
                try systemCall { unlinkat(folder.raw, name, 0) }
            } catch {
                throw .disk("cannot remove", file.displayPath, error, on: staging.folder.raw)
            }
            state.remove(file.entry.path)
        }
    }

    /// Whether a file is written behind: only the small files of a tree.
    private func gathers(_ entry: FileEntry) -> Bool {
        guard isTree, let size = entry.size else { return false }
        return size <= WriteBehindQueue.maximumBytes
    }

    func fault(_ fault: WriteBehindQueue.WriteError) -> TransferError {
        .disk("cannot write", fault.displayPath, fault.error, on: staging.folder.raw)
    }

    /// Checks at intervals whether unannounced contents use up the reserve: files of unknown size, and many small ones.
    private func look(after count: Int, _ state: inout State) throws(TransferError) {
        guard staging.reserve != .bytes(0), state.file?.roomTaken == false, state.file?.isComplete == false else {
            return
        }
        state.unseenBytes += count
        guard state.unseenBytes >= Self.lookStep else { return }
        state.unseenBytes = 0
        staging.makeRoom(for: 1)
        guard let free = try? DiskRoom.free(onFileSystemOf: staging.folder.raw, keeping: staging.reserve), free == 0
        else { return }
        let left = (try? DiskRoom.free(onFileSystemOf: staging.folder.raw)).map { ", \(ByteCount.text($0))," } ?? ""
        throw TransferError(
            .noRoom,
            "cannot write \(display(state.file?.entry.path)): the rest of the disk\(left) is kept free; "
                + "make room and send it again")
    }

    /// Refuses a file that no disk can hold without asking this disk for room.
    func checkRoom(for entry: FileEntry, _ display: String) throws(TransferError) {
        guard let contents = entry.size, contents >= Self.preallocationThreshold else { return }
        let whole = sealing?.bytes(ofContents: contents) ?? contents
        let size = whole - min(whole, entry.offset)
        staging.makeRoom(for: size)
        let free: UInt64
        do throws(SystemError) {
            free = try DiskRoom.free(onFileSystemOf: staging.folder.raw, keeping: staging.reserve)
        } catch {
            throw .disk("cannot store", display, error, on: staging.folder.raw)
        }
        if size > free || Int64(exactly: whole) == nil { throw .noRoom(display, needed: size, free: free) }
    }

    /// - Returns: whether room was reserved; not every file system can.
    func takeRoom(for entry: FileEntry, in file: Int32) throws(SystemError) -> Bool {
        guard let size = entry.size, size >= Self.preallocationThreshold,
            let size = Int64(exactly: sealing?.bytes(ofContents: size) ?? size), !staging.isInMemory
        else { return false }
        // The kept part of a resumed file keeps its holes.
        let start = sealing == nil ? Int64(clamping: entry.offset) : 0
        guard size > start else { return false }
        do throws(SystemError) {
            try systemCall { CLinuxShims_fallocate_keep_size(file, start, size - start) }
            return true
        } catch  where [ENOSPC, EDQUOT].contains(error.number) && staging.partials.removeOldest() {
            return try takeRoom(for: entry, in: file)
        } catch  where [ENOSPC, EDQUOT, EFBIG, EIO].contains(error.number) {
            throw error
        } catch {
            return false
        }
    }
}
