import Age
import Digests
import Glibc
import Secrets
import Sharing
import Synchronization
import SystemCalls

extension StagedFiles {
    /// As `place(of:)`, for a file: in a sealed tree its name on the disk shows that it is sealed.
    func filePlace(
        of path: SafeRelativePath?, what: String, _ state: inout State
    ) throws(TransferError) -> (OpenFolder, String) {
        let (folder, name) = try place(of: path, what: what, &state)
        guard sealing != nil, path != nil else { return (folder, name) }
        return (folder, try SealedName.onDisk(name))
    }

    /// Remembers a sealed file that has ended, or lets it be sealed when it is written behind.
    func note(
        _ end: inout WritingFile.End, _ entry: FileEntry, _ sealing: ItemSealing, _ state: inout State
    ) throws(TransferError) {
        guard let path = entry.path else {
            (state.sealedDigest, state.chunkKey) = (end.sealedDigest, end.chunkKey)
            return
        }
        let listing = state.sealedListing
        guard end.rest != nil || end.sealedDigest != nil else {
            state.sealedListing = nil
            return
        }
        let place = listing?.file(try sealedPath(path), executable: entry.executable && keepsModes)
        guard end.rest == nil else {
            end.rest?.sealing = { contents throws(SystemError) in
                let file = try sealing.file(of: contents)
                if let place { listing?.end(place, .of(.xxh3_128, file)) }
                return file
            }
            return
        }
        if let place, let digest = end.sealedDigest { listing?.end(place, digest) }
    }

    /// Waits for the files that are written behind, if too many entries wait for their digests.
    func limitListing(_ state: inout State) throws(TransferError) {
        guard state.sealedListing?.isFull == true else { return }
        do throws(WriteBehindQueue.WriteError) {
            try behind.finish()
        } catch {
            throw fault(error)
        }
    }

    private func sealedPath(_ path: SafeRelativePath) throws(TransferError) -> SafeRelativePath {
        do throws(NameError) {
            return try SafeRelativePath(path.text + SealedName.ending)
        } catch {
            throw TransferError(.unsafeName, "the path \(path) is too long to be sealed")
        }
    }

    func sealedDigests(of contents: ContentDigests) throws(TransferError) -> SealedDigests? {
        guard let sealing else { return nil }
        // Digests of small files are known when they are written.
        if isTree { try rest() }
        let known = state.withLock { state -> Digest? in
            guard state.phase == .writing else { return nil }
            return isTree ? state.sealedListing?.finalize() : state.sealedDigest
        }
        let stored: Digest
        if let known { stored = known } else { stored = try digest(.xxh3_128) }
        do throws(AgeError) {
            return SealedDigests(
                stored: stored, contents: try SealedText.seal(contents.sealedText, to: sealing.recipients))
        } catch {
            throw TransferError(.storage, "its digest cannot be sealed: \(error)")
        }
    }

    /// Ends a file before it is whole. Its sealer stays for a while, so that it can be continued.
    func breakOff(_ file: consuming WritingFile) {
        let path = file.entry.path
        guard let sealer = file.breakOff(), let sealing, isKeyed else { return }
        guard !sealing.isComplete || sealing.isUnlocked() else { return }
        let place = KeptSealers.SealedFile(item: name, pathHash: KeptFile.pathHash(path))
        sealing.kept.put(sealer, for: place, endsAtLock: sealing.isComplete)
    }
}
