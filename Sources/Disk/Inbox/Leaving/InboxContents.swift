package import Digests
import Glibc
package import Sharing
import SystemCalls

/// Reads the contents of an item that is one file.
package enum InboxContents {
    /// The first bytes of a sealed item.
    ///
    /// - Parameter limit: bytes, at most.
    /// - Returns: nil while it is locked, and if it cannot be read or is not the item that arrived. A longer item is not
    ///   compared.
    package static func beginning(of arrival: Arrival, inbox: String, keys: FileKeys, limit: Int) -> [UInt8]? {
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
        guard let place = try? FolderEntry(arrival.stored.path, inbox: inbox),
            case let raw = openat(place.folder.raw, place.name, flags), raw >= 0,
            let file = try? SealedFile.open(FileDescriptor(owning: raw), keys)
        else { return nil }
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
    package static func digest(of arrival: Arrival, keys: FileKeys) throws(LeavingError) -> Digest {
        guard let digest = ArrivedContents.digest(ofFile: arrival, keys) else {
            throw reason(SealedFileError.damaged("its digest in the journal cannot be opened"), arrival)
        }
        return digest
    }

    /// Opens a sealed item.
    ///
    /// - Parameter inbox: absolute path of the Inbox.
    /// - Throws: `LeavingError`; `mismatch` also if its contents have another size than they had when it arrived.
    package static func open(_ arrival: Arrival, inbox: String, keys: FileKeys) throws(LeavingError) -> SealedFile {
        do {
            let sealed = try SealedFile.open(file(of: arrival, inbox), keys)
            guard sealed.size == arrival.size else {
                throw SealedFileError.damaged("it has \(sealed.size) bytes instead of \(arrival.size)")
            }
            return sealed
        } catch {
            throw reason(error, arrival)
        }
    }

    /// The file of an item.
    private static func file(of arrival: Arrival, _ inbox: String) throws(SystemError) -> FileDescriptor {
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
    /// - Parameters:
    ///   - inbox: absolute path of the Inbox.
    ///   - keys: those of sealed items.
    ///   - target: open for writing; stays open.
    /// - Throws: `LeavingError`; `mismatch` at the end, if other contents were sealed in the place of the item.
    package static func write(
        _ arrival: Arrival, inbox: String, keys: FileKeys, to target: Int32
    ) throws(LeavingError) {
        do {
            if arrival.protection.isSealed {
                let file = try open(arrival, inbox: inbox, keys: keys)
                let digest = try digest(of: arrival, keys: keys)
                return try read(file, digest) { bytes throws(SealedFileError) in
                    do throws(SystemError) { try OwnTree.write(bytes, to: target) } catch { throw .system(error) }
                }
            }
            let file = try file(of: arrival, inbox)
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 4_096)
            defer { buffer.deallocate() }
            try OwnTree.pass(file.raw, to: target, nil, through: buffer, { _ in })
        } catch let error as LeavingError {
            throw error
        } catch {
            throw reason(error, arrival)
        }
    }
}
