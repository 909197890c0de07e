import Digests
import NIOCore
import Sharing

/// Reads one file of a plan in large pieces, on the calling thread, which must be allowed to block.
///
/// Exactly the announced number of bytes comes; a file that has changed fails before its last piece.
final class FileBody {
    /// A system call and a wake-up for each piece cost nothing beside it.
    static let pieceBytes = 512 << 10

    /// Of everything that was read; known at the end.
    private(set) var digest: Digest?

    private let reading: (any ItemReading)?
    private let contents: [UInt8]
    private let origin: String
    private var left: UInt64
    private var state = DigestState(.xxh3_128)

    /// - Throws: `SourceError`.
    init(_ file: LocalSendPlan.File, of source: any ItemSource) throws(SourceError) {
        (left, contents) = (file.announced.size, file.contents ?? [])
        origin = file.path.map { PathText.joined(source.origin, $0.text) } ?? source.origin
        guard file.contents == nil else {
            reading = nil
            return
        }
        let reading = if let path = file.path { try source.open(path) } else { try source.open() }
        guard case .file(let entry)? = try reading.next(), entry.size == left else {
            throw Self.changed(origin, "its size changed")
        }
        self.reading = reading
    }

    /// - Returns: the next piece, nil after the last. An empty file has none.
    /// - Throws: `SourceError`.
    func next() throws(SourceError) -> ByteBuffer? {
        guard digest == nil else { return nil }
        let count = Int(min(left, UInt64(Self.pieceBytes)))
        var piece = ByteBuffer()
        if let reading {
            piece.reserveCapacity(count)
            try fill(&piece, count, from: reading)
        } else {
            piece.writeBytes(contents[(contents.count - Int(left))...].prefix(count))
        }
        piece.withUnsafeReadableBytes { state.update($0) }
        left -= UInt64(count)
        if left == 0 {
            if let reading { try checkEnd(of: reading) }
            digest = state.finalize()
        }
        return piece.readableBytes == 0 ? nil : piece
    }

    private func fill(_ piece: inout ByteBuffer, _ count: Int, from reading: any ItemReading) throws(SourceError) {
        while piece.readableBytes < count {
            let missing = count - piece.readableBytes
            var fault: SourceError?
            let read = piece.writeWithUnsafeMutableBytes(minimumWritableBytes: missing) { bytes in
                do throws(SourceError) {
                    return try reading.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[..<missing]))
                } catch {
                    fault = error
                    return 0
                }
            }
            if let fault { throw fault }
            guard read > 0 else { throw Self.changed(origin, "it became shorter") }
        }
    }

    private func checkEnd(of reading: any ItemReading) throws(SourceError) {
        let more = try withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { (byte) throws(SourceError) in
            try reading.read(into: byte)
        }
        if more > 0 { throw Self.changed(origin, "it became longer") }
    }

    private static func changed(_ path: String, _ words: String) -> SourceError {
        SourceError(.changed, "\(PathText.printable(path)): changed while it was sent: \(words); send it again")
    }
}
