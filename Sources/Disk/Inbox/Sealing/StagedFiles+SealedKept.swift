import Age
import Glibc
import Secrets
import Sharing
import Synchronization
import SystemCalls

// A chunk number is used once under a key. So a kept file is continued with the sealer that has written it, at its end.
// In all other cases its contents are sealed anew, under another key, into another file that takes its place.
extension StagedFiles {
    func resumeSealed(
        _ entry: FileEntry, _ sealing: ItemSealing, contents: (UnsafeRawBufferPointer) -> Void
    ) throws(TransferError) {
        try state.withLock { state throws(TransferError) in
            try check(state)
            let display = display(entry.path)
            let (folder, name) = try filePlace(of: entry.path, what: "cannot resume", &state)
            guard mayResume(entry, state) else { throw Self.notKept(display) }
            var file: WritingFile
            do throws(SealedFileError) {
                file = try takeUp(entry, name, in: folder.raw, sealing, &state, contents)
            } catch {
                switch error {
                case .locked, .foreign, .closed, .damaged: throw Self.notKept(display)
                case .system(let error) where Self.meansNotKept(error): throw Self.notKept(display)
                case .system(let error): throw .disk("cannot resume", display, error, on: staging.folder.raw)
                }
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

    private func takeUp(
        _ entry: FileEntry, _ name: String, in folder: Int32, _ sealing: ItemSealing, _ state: inout State,
        _ contents: (UnsafeRawBufferPointer) -> Void
    ) throws(SealedFileError) -> WritingFile {
        let place = KeptSealers.SealedFile(item: self.name, pathHash: KeptFile.pathHash(entry.path))
        let chunkKey = sealing.kept.chunkKey(place)
        let display = display(entry.path)
        let old = try reopenSealed(name, in: folder, entry)
        var status = stat()
        guard fstat(old.raw, &status) == 0 else { throw .system(.last) }
        let source = try open(old.raw, sealing, chunkKey)
        guard source.size >= entry.offset else { throw .damaged("it is shorter than its kept part") }
        if let sealer = sealing.kept.take(place, contents: entry.offset, file: UInt64(max(0, status.st_size))) {
            try source.read(upTo: entry.offset) { contents($0) }
            guard lseek(old.raw, status.st_size, SEEK_SET) >= 0 else { throw .system(.last) }
            return WritingFile(
                old, entry: entry, displayPath: display, received: entry.offset, sealer: sealer,
                written: status.st_size)
        }
        if source.isWhole, source.size == entry.offset, entry.size == entry.offset {
            try source.read(upTo: entry.offset) { contents($0) }
            if entry.path == nil { state.chunkKey = chunkKey }
            return WritingFile(old, entry: entry, displayPath: display)
        }
        return try renew(entry, source, name, in: folder, sealing, contents)
    }

    private func reopenSealed(
        _ name: String, in folder: Int32, _ entry: FileEntry
    ) throws(SealedFileError) -> FileDescriptor {
        do throws(SystemError) {
            return try Self.reopen(name, in: folder, entry)
        } catch {
            throw .system(error)
        }
    }

    private func open(
        _ file: Int32, _ sealing: ItemSealing, _ chunkKey: SecretBytes?
    ) throws(SealedFileError) -> SealedFile {
        let copy: FileDescriptor
        do throws(SystemError) {
            copy = try FileDescriptor.copy(of: file)
        } catch {
            throw .system(error)
        }
        return try SealedFile.open(copy, sealing.keys, chunkKey: chunkKey, isPart: true)
    }

    /// Seals the kept contents into a new file.
    private func renew(
        _ entry: FileEntry, _ source: SealedFile, _ name: String, in folder: Int32, _ sealing: ItemSealing,
        _ contents: (UnsafeRawBufferPointer) -> Void
    ) throws(SealedFileError) -> WritingFile {
        let fresh = staging.freshName("renewed")
        let makingRoom = { [staging] in staging.partials.removeOldest() }
        do {
            let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
            let raw = try systemCall { openat(staging.folder.raw, fresh, flags, entry.executable ? 0o555 : 0o444) }
            var file = WritingFile(
                FileDescriptor(owning: raw), entry: entry, displayPath: display(entry.path), received: 0,
                sealer: try sealing.makeSealer(), written: 0)
            try file.begin(makingRoom: makingRoom)
            try source.read(upTo: entry.offset) { (bytes) throws(SealedFileError) in
                contents(bytes)
                do throws(SystemError) {
                    try file.write(bytes, makingRoom: makingRoom)
                } catch {
                    throw .system(error)
                }
            }
            try systemCall { renameat(staging.folder.raw, fresh, folder, name) }
            return file
        } catch {
            unlinkat(staging.folder.raw, fresh, 0)
            throw error as? SealedFileError ?? .system(error as? SystemError ?? SystemError(EIO))
        }
    }
}
