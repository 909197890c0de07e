package import Digests
import Glibc
package import Sharing
import SystemCalls

/// Reads the contents of items that are one file, for all that ask for them: it knows whether an item is sealed, whether
/// it can be opened now, and whether it has gone.
package struct ItemReader: Sendable {
    private let inbox: String
    private let keys: FileKeys

    /// - Parameters:
    ///   - inbox: absolute path of the Inbox.
    ///   - keys: those of sealed items.
    package init(inbox: String, keys: FileKeys) { (self.inbox, self.keys) = (inbox, keys) }

    /// The first bytes of an item.
    ///
    /// - Parameter limit: bytes, at most.
    /// - Returns: nil while it is locked, and if it cannot be read or, sealed, is not the item that arrived. A longer item is
    ///   not compared.
    package func beginning(of arrival: Arrival, limit: Int) -> [UInt8]? {
        guard let raw = try? file(of: arrival) else { return nil }
        guard arrival.protection.isSealed else {
            return try? SealedHeader.beginning(of: raw.raw, limit)
        }
        guard let file = try? SealedFile.open(raw, keys) else { return nil }
        guard let bytes = try? file.bytes(at: 0, count: limit) else { return nil }
        guard file.size <= UInt64(limit) else { return bytes }
        guard let arrived = ArrivedContents.digest(ofFile: arrival, keys),
            Digest.of(arrived.algorithm, bytes) == arrived
        else { return nil }
        return bytes
    }

    /// Passes all contents of a sealed item on, and compares them with those that arrived.
    ///
    /// - Parameters:
    ///   - arrived: the digest of those (`digest`).
    ///   - body: as in `SealedFile.read`.
    /// - Throws: `damaged` also at the end, if other contents were sealed in its place; or as `SealedFile.read`.
    package static func read(
        _ file: SealedFile, _ arrived: Digest, _ body: (UnsafeRawBufferPointer) throws(SealedFileError) -> Void
    ) throws(SealedFileError) {
        var state = DigestState(arrived.algorithm)
        try file.read(upTo: file.size) { bytes throws(SealedFileError) in
            state.update(bytes)
            try body(bytes)
        }
        guard state.finalize() == arrived else { throw .damaged(ArrivedContents.reason) }
    }

    /// The digest of the contents that arrived as a sealed file.
    ///
    /// - Throws: `mismatch` if the journal has none that can be opened.
    package func digest(of arrival: Arrival) throws(LeavingError) -> Digest {
        guard let digest = ArrivedContents.digest(ofFile: arrival, keys) else {
            throw Self.reason(SealedFileError.damaged("its digest in the journal cannot be opened"), arrival)
        }
        return digest
    }

    /// Opens a sealed item.
    ///
    /// - Throws: `LeavingError`; `mismatch` also if its contents have another size than they had when it arrived.
    package func open(_ arrival: Arrival) throws(LeavingError) -> SealedFile {
        do {
            let sealed = try SealedFile.open(file(of: arrival), keys)
            guard sealed.size == arrival.size else {
                throw SealedFileError.damaged("it has \(sealed.size) bytes instead of \(arrival.size)")
            }
            return sealed
        } catch {
            throw Self.reason(error, arrival)
        }
    }

    /// The file of an item.
    private func file(of arrival: Arrival) throws(SystemError) -> FileDescriptor {
        let place = try FolderEntry(arrival.stored.path, inbox: inbox)
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
        let file = FileDescriptor(owning: try systemCall { openat(place.folder.raw, place.name, flags) })
        var status = stat()
        try systemCall { fstat(file.raw, &status) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw SystemError(ENXIO) }
        return file
    }

    /// Why the contents of an item cannot be read.
    package static func reason(_ error: any Error, _ arrival: Arrival) -> LeavingError {
        let what = "cannot read \(arrival.stored.name)"
        if let error = error as? SealedFileError { return LeavingError(what, error) }
        return LeavingError(what, error as? SystemError ?? SystemError(EIO))
    }

    /// Writes all contents to an open file, a pipe or a terminal. Blocks.
    ///
    /// - Parameter target: open for writing; stays open.
    /// - Throws: `LeavingError`; `mismatch` at the end, if other contents were sealed in the place of the item.
    package func write(_ arrival: Arrival, to target: Int32) throws(LeavingError) {
        do {
            if arrival.protection.isSealed {
                let file = try open(arrival)
                let digest = try digest(of: arrival)
                return try Self.read(file, digest) { bytes throws(SealedFileError) in
                    do throws(SystemError) { try OwnTree.write(bytes, to: target) } catch { throw .system(error) }
                }
            }
            let file = try file(of: arrival)
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 4_096)
            defer { buffer.deallocate() }
            try OwnTree.pass(file.raw, to: target, nil, through: buffer, { _ in })
        } catch let error as LeavingError {
            throw error
        } catch {
            throw Self.reason(error, arrival)
        }
    }
}
