package import Digests
import Glibc
package import Sharing
import SystemCalls

extension FileInbox {
    /// The kept parts of interrupted items.
    package var partials: PartialsSummary {
        guard let staging else { return PartialsSummary(count: 0, bytes: 0) }
        staging.partials.trim()
        return staging.partials.summary
    }

    /// Removes kept parts that are too old, or exceed the quota.
    package func trimPartials() { staging?.partials.trim() }

    package func hasKept(_ key: PartialKey) -> Bool {
        let name = Partials.name(of: key)
        guard let staging, staging.partials.isThere(name) else { return false }
        guard key.protection.isSealed else { return true }
        return keys.canOpen(key.protection) || staging.keptSealers.has(name)
    }

    package func hasKept(of peer: PeerID) -> Bool {
        staging?.partials.isAnythingThere(of: PartialKey.owner(peer)) ?? false
    }

    package func boundKept(
        of peer: PeerID, to bytes: UInt64, besides items: [OfferedItem], protections: [ProtectionClass]
    ) {
        let owner = PartialKey.owner(peer)
        guard let staging, staging.partials.isAnythingThere(of: owner) else { return }
        var spared: [String: UInt64] = [:]
        for (item, protection) in zip(items, protections) {
            guard let key = PartialKey(item, from: peer, protection: protection) else { continue }
            // Contents take more disk than their bytes: one or two blocks for each entry, and `Limits.entryBytes`.
            let entries = (item.entries ?? 1).multipliedSaturating(by: 8_192 + Limits.entryBytes)
            let (most, overflow) = key.size.addingReportingOverflow(min(entries, .max - 65_536) + 65_536)
            spared[Partials.name(of: key)] = overflow ? .max : most
        }
        staging.partials.bound(owner, to: bytes, besides: spared)
    }

    package func readKept(_ key: PartialKey, _ algorithm: DigestAlgorithm, found: (KeptFile) -> Bool) {
        let name = Partials.name(of: key)
        guard let staging, staging.partials.isThere(name), staging.partials.take(name) == true else { return }
        defer { staging.partials.giveBack(name) }
        // The keys of the present recipients: sealing is not needed here.
        let sealing = key.protection.isSealed ? try? keys.sealing(key.protection, staging.keptSealers) : nil
        guard !key.protection.isSealed || sealing != nil else { return }
        var reading = KeptReading(staging, algorithm, sealing)
        reading.read(name, found)
    }

    package func seemsPresent(_ arrival: Arrival) -> Bool {
        guard let holder = try? holder(of: arrival) else { return false }
        var status = stat()
        guard fstatat(holder.raw, arrival.nameOnDisk, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return false }
        if arrival.item.kind == .tree { return status.st_mode & S_IFMT == S_IFDIR }
        if arrival.protection.isSealed { return status.st_mode & S_IFMT == S_IFREG }
        return status.st_mode & S_IFMT == S_IFREG && UInt64(max(0, status.st_size)) == arrival.size
    }

    /// The Inbox, or the folder below it, in which an arrival was stored.
    /// - Throws: `notKept` if that was another Inbox, or if the folder cannot be opened.
    private func holder(of arrival: Arrival) throws(TransferError) -> OpenFolder {
        let folder = arrival.destination.folder
        let place = (folder.map { "\(path)/\($0)" } ?? path) + "/" + arrival.nameOnDisk
        guard arrival.stored.path == place else {
            throw TransferError(.notKept, "\(arrival.stored.name) was stored elsewhere")
        }
        let inbox = try currentInbox()
        guard let folder else { return inbox }
        do {
            return OpenFolder(
                try opening.open(folder.text, below: inbox.raw, flags: O_RDONLY | O_DIRECTORY))
        } catch {
            throw TransferError(.notKept, "\(folder): \(error)")
        }
    }

    package func digest(of arrival: Arrival, _ algorithm: DigestAlgorithm) throws(TransferError) -> Digest {
        let holder = try holder(of: arrival)
        let keys = keys.recognising(arrival.protection)
        if keys == nil, arrival.protection.isSealed {
            throw TransferError(.notKept, "\(arrival.stored.name) is sealed")
        }
        do {
            return try StoredDigest.read(
                arrival.nameOnDisk, in: holder.raw, isTree: arrival.item.kind == .tree, algorithm: algorithm,
                keys: keys, ignoringModes: staging?.abilities.keepsModes == false
            ).digest
        } catch {
            throw TransferError(.notKept, error.message)
        }
    }
}

extension FileInbox {
    package func contentDigests(of arrival: Arrival) -> ContentDigests? {
        guard arrival.protection.isSealed else {
            return ContentDigests(
                lasting: arrival.digest, sent: arrival.sentDigest ?? arrival.digest, own: arrival.ownDigest)
        }
        return keys.recognising(arrival.protection)?.contentDigests(of: arrival)
    }

    /// Forgets the keys of files of the class complete whose transfer was cut.
    package func lockKeptKeys() { staging?.keptSealers.lock() }

    /// Forgets the keys of files whose transfer was cut: they are not continued.
    package func forgetKeptKeys() { staging?.keptSealers.wipe() }
}

extension FileInbox: ConsentMarking {
    package func mark(of key: ConsentKey) -> ConsentMark? {
        staging?.partials.consent(Partials.name(of: key))
    }

    package func setMark(of key: ConsentKey, _ mark: ConsentMark?) {
        staging?.partials.setConsent(Partials.name(of: key), mark)
    }

    package func changeMarks(_ change: (ConsentMark) -> ConsentMark?) {
        staging?.partials.changeConsents(change)
    }
}

/// Computes digests of the kept parts of an item. Skips a file that cannot be read or that changes meanwhile.
private struct KeptReading: ~Copyable {
    private let staging: StagingFolder
    /// Of a sealed item.
    private let sealing: ItemSealing?
    private let buffer: UnsafeMutableRawBufferPointer
    private var state: DigestState

    init(_ staging: StagingFolder, _ algorithm: DigestAlgorithm, _ sealing: ItemSealing?) {
        self.staging = staging
        self.sealing = sealing
        state = DigestState(algorithm)
        buffer = .allocate(byteCount: 256 << 10, alignment: 4_096)
    }

    deinit {
        buffer.deallocate()
    }

    mutating func read(_ name: String, _ found: (KeptFile) -> Bool) {
        var pending: [String] = [""]
        while let path = pending.popLast() {
            let place = path.isEmpty ? name : "\(name)/\(path)"
            let flags = O_RDONLY | O_NONBLOCK | O_NOCTTY
            guard let open = try? staging.opening.open(place, below: staging.folder.raw, flags: flags) else { continue }
            var status = stat()
            guard fstat(open.raw, &status) == 0 else { continue }
            switch status.st_mode & S_IFMT {
            case S_IFREG:
                guard let size = UInt64(exactly: status.st_size), size > 0 else { continue }
                let file: KeptFile?
                if let sealing {
                    guard let own = path.isEmpty ? path : SealedName.own(path) else { continue }
                    file = try? sumUp(sealed: open.raw, sealing, item: name, KeptFile.pathHash(own))
                } else {
                    file = try? sumUp(open.raw, size: size, KeptFile.pathHash(path))
                }
                guard let file else { continue }
                guard found(file) else { return }
            case S_IFDIR:
                guard var contents = try? FolderContents.make(of: open.raw) else { continue }
                while let entry = try? contents.next() {
                    guard let text = String(validatingCString: entry) else { continue }
                    pending.append(path.isEmpty ? text : "\(path)/\(text)")
                }
            default:
                continue
            }
        }
    }

    /// - Returns: nil for a part without contents.
    private mutating func sumUp(
        sealed file: Int32, _ sealing: ItemSealing, item: String, _ pathHash: UInt64
    ) throws -> KeptFile? {
        let chunkKey = sealing.kept.chunkKey(KeptSealers.SealedFile(item: item, pathHash: pathHash))
        let source = try SealedFile.open(
            FileDescriptor.copy(of: file), sealing.keys, chunkKey: chunkKey, isPart: true)
        guard source.size > 0 else { return nil }
        let exponent = KeptFile.blockExponent(forSize: source.size)
        var kept = KeptFile(pathHash: pathHash, size: source.size, blockExponent: exponent, digests: [])
        var missing = 1 << exponent
        state.reset()
        try source.read(upTo: source.size) { bytes in
            var rest = bytes
            while !rest.isEmpty {
                let count = min(missing, rest.count)
                state.update(UnsafeRawBufferPointer(rebasing: rest[..<count]))
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                missing -= count
                if missing == 0 {
                    kept.digests.append(state.finalize())
                    missing = 1 << exponent
                }
            }
        }
        if missing < 1 << exponent { kept.digests.append(state.finalize()) }
        return kept
    }

    private mutating func sumUp(_ file: Int32, size: UInt64, _ pathHash: UInt64) throws(SystemError) -> KeptFile {
        let exponent = KeptFile.blockExponent(forSize: size)
        var kept = KeptFile(pathHash: pathHash, size: size, blockExponent: exponent, digests: [])
        kept.digests.reserveCapacity(Int(KeptFile.blockCount(size: size, exponent: exponent)))
        posix_fadvise(file, 0, 0, POSIX_FADV_SEQUENTIAL)
        var offset: UInt64 = 0
        while offset < size {
            let end = min(size, offset + (1 << UInt64(exponent)))
            state.reset()
            while offset < end {
                let most = Int(min(UInt64(buffer.count), end - offset))
                let count = try systemCall { pread(file, buffer.baseAddress, most, off_t(clamping: offset)) }
                if count == 0 { throw SystemError(EIO) }
                state.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                offset += UInt64(count)
            }
            kept.digests.append(state.finalize())
        }
        return kept
    }
}

extension UInt64 {
    fileprivate func multipliedSaturating(by factor: UInt64) -> UInt64 {
        let (product, overflow) = multipliedReportingOverflow(by: factor)
        return overflow ? .max : product
    }
}
