package import NIOCore
package import Sharing

/// A file, from its opening to its last byte. Used by one task.
package final class FileDownload {
    package let entry: FileEntry
    /// Bytes of the whole file.
    package let size: UInt64
    private let reading: any ItemReading
    private var left: UInt64
    private var end: UInt64

    /// Bytes of one piece.
    package static let pieceBytes = 256 << 10

    /// - Throws: `SourceError` for an item that is no file any more, or of an unknown size.
    package init(_ source: any ItemSource) throws(SourceError) {
        reading = try source.open()
        guard case .file(let entry)? = try reading.next(), let size = entry.size else {
            throw SourceError(.changed, "\(source.origin) is no file of a known size")
        }
        (self.entry, self.size, left, end) = (entry, size, size, size)
    }

    /// Differs between two states of the file.
    /// - Parameter number: of the item.
    package func tag(_ number: Int) -> String {
        let time = entry.modified ?? Timestamp(seconds: 0, nanoseconds: 0)
        return "\"\(number)-\(size)-\(time.seconds).\(time.nanoseconds)\""
    }

    /// The time of the last change, for `Last-Modified`.
    package var date: String? {
        guard let seconds = entry.modified?.seconds, (0...253_402_300_799).contains(seconds) else { return nil }
        return HTTPDate.text(seconds)
    }

    /// Continues at `start`, and ends before `end`.
    package func narrow(to start: UInt64, _ end: UInt64) throws(SourceError) {
        try reading.seek(to: start)
        (left, self.end) = (end - start, end)
    }

    /// The next bytes; nil at the end.
    /// - Throws: `SourceError`; before the last bytes if the file has changed.
    package func next() throws(SourceError) -> ByteBuffer? {
        guard left > 0 else { return nil }
        var piece = ByteBuffer()
        let most = Int(min(left, UInt64(Self.pieceBytes)))
        let count = try piece.read(reading, upTo: most)
        guard count > 0 else { throw SourceError(.changed, "the file has become shorter") }
        left -= UInt64(count)
        if left == 0, end == size { try reading.checkEnd() }
        return piece
    }
}

extension ByteBuffer {
    /// Appends the next bytes of a file: at least one, or none at its end.
    package mutating func read(_ reading: any ItemReading, upTo most: Int) throws(SourceError) -> Int {
        var fault: SourceError?
        let count = writeWithUnsafeMutableBytes(minimumWritableBytes: most) { room in
            do throws(SourceError) {
                return try reading.read(into: UnsafeMutableRawBufferPointer(rebasing: room[..<most]))
            } catch {
                fault = error
                return 0
            }
        }
        if let fault { throw fault }
        return count
    }
}

extension ItemReading {
    /// Checks that the file ends here, and has not changed while it was read.
    package func checkEnd() throws(SourceError) {
        let rest = try withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { room throws(SourceError) in
            try read(into: room)
        }
        guard rest == 0 else { throw SourceError(.changed, "the file has become longer") }
    }
}
