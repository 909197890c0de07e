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

    /// Remembers a sealed file that has ended.
    func note(_ end: WritingFile.End, _ entry: FileEntry, _ state: inout State) throws(TransferError) {
        guard let path = entry.path else {
            (state.sealedDigest, state.chunkKey) = (end.sealedDigest, end.chunkKey)
            return
        }
        guard let digest = end.sealedDigest else {
            state.sealedListing = nil
            return
        }
        state.sealedListing?.file(
            try sealedPath(path), executable: entry.executable && keepsModes, digest: digest)
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
        let known = state.withLock { state -> Digest? in
            guard state.phase == .writing else { return nil }
            if !isTree { return state.sealedDigest }
            guard state.sealedListing?.isInByteOrder == true else { return nil }
            return state.sealedListing?.finalize()
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
