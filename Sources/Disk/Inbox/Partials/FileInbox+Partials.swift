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
        staging?.partials.isThere(Partials.name(of: key)) ?? false
    }

    package func boundKept(of peer: PeerID, to bytes: UInt64, besides items: [OfferedItem]) {
        let owner = PartialKey.owner(peer)
        guard let staging, staging.partials.isAnythingThere(of: owner) else { return }
        var spared: [String: UInt64] = [:]
        for item in items {
            guard let key = PartialKey(item, from: peer) else { continue }
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
        var reading = KeptReading(staging, algorithm)
        reading.read(name, found)
    }

    package func seemsPresent(_ arrival: Arrival) -> Bool {
        guard let holder = try? holder(of: arrival) else { return false }
        var status = stat()
        guard fstatat(holder.raw, arrival.stored.name.text, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return false }
        if arrival.item.kind == .tree { return status.st_mode & S_IFMT == S_IFDIR }
        return status.st_mode & S_IFMT == S_IFREG && UInt64(max(0, status.st_size)) == arrival.size
    }

    /// The Inbox, or the folder below it, in which an arrival was stored.
    /// - Throws: `notKept` if that was another Inbox, or if the folder cannot be opened.
    private func holder(of arrival: Arrival) throws(TransferError) -> OpenFolder {
        let folder = arrival.destination.folder
        let place = (folder.map { "\(path)/\($0)" } ?? path) + "/" + arrival.stored.name.text
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
        do {
            return try StoredDigest.read(
                arrival.stored.name.text, in: holder.raw, isTree: arrival.item.kind == .tree, algorithm: algorithm
            ).digest
        } catch {
            throw TransferError(.notKept, error.message)
        }
    }
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
    private let buffer: UnsafeMutableRawBufferPointer
    private var state: DigestState

    init(_ staging: StagingFolder, _ algorithm: DigestAlgorithm) {
        self.staging = staging
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
                guard let file = try? sumUp(open.raw, size: size, KeptFile.pathHash(path)) else { continue }
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
