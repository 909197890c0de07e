import Glibc
package import Sharing
import SystemCalls

/// Reads the contents of an item that is one file.
package enum InboxContents {
    /// The first bytes of a sealed item.
    ///
    /// - Parameter limit: bytes, at most.
    /// - Returns: nil while it is locked, and if it cannot be read.
    package static func beginning(of arrival: Arrival, inbox: String, keys: FileKeys, limit: Int) -> [UInt8]? {
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
        guard let place = try? InboxPlace(arrival.stored.path, inbox: inbox),
            case let raw = openat(place.folder.raw, place.name, flags), raw >= 0,
            let file = try? SealedFile.open(FileDescriptor(owning: raw), keys)
        else { return nil }
        return try? file.bytes(at: 0, count: limit)
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
        let place = try InboxPlace(arrival.stored.path, inbox: inbox)
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
    /// - Throws: `LeavingError`. Contents of a sealed item that were written before are authentic, but not all.
    package static func write(
        _ arrival: Arrival, inbox: String, keys: FileKeys, to target: Int32
    ) throws(LeavingError) {
        do {
            let file = try file(of: arrival, inbox)
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 4_096)
            defer { buffer.deallocate() }
            try OwnTree.pass(
                file.raw, to: target, arrival.protection.isSealed ? keys : nil, through: buffer, { _ in })
        } catch {
            throw reason(error, arrival)
        }
    }
}
