import Digests
import NIOCore
import Sharing

extension Frame {
    /// Reads the payload of a complete frame.
    ///
    /// - Throws: `protocolViolation` if the payload is malformed, `unsafeName` for an unsafe path or target.
    init(_ type: FrameType, payload: inout ByteBuffer, digest: DigestAlgorithm) throws(TransferError) {
        switch type {
        case .item:
            let number = try Self.itemNumber(&payload)
            _ = try Fields(payload)
            self = .item(number)
        case .file:
            let fields = try Fields(payload)
            var entry = FileEntry(
                path: try fields.path(),
                executable: try fields.flag(.executable),
                modified: try fields.time(),
                size: try fields.integer(.size, as: UInt64.self)
            )
            entry.offset = try fields.integer(.offset, as: UInt64.self) ?? 0
            self = .file(entry)
        case .folder:
            self = .folder(try Fields(payload).requiredPath())
        case .link:
            let fields = try Fields(payload)
            let path = try fields.requiredPath()
            self = .link(path, target: try fields.target(of: path))
        case .folderClosed:
            let fields = try Fields(payload)
            self = .folderClosed(try fields.path(), modified: try fields.time())
        case .fileEnd:
            self = .fileEnd(try Fields(payload).digest(digest))
        case .itemEnd:
            self = .itemEnd(try Fields(payload).digest(digest))
        case .itemAbandoned:
            let number = try Self.itemNumber(&payload)
            self = .itemAbandoned(number, try Fields(payload).fault())
        case .end:
            _ = try Fields(payload)
            self = .end
        case .cancel:
            self = .cancel(try Fields(payload).fault())
        case .present:
            let number = try Self.itemNumber(&payload)
            self = .present(number, try Fields(payload).optionalDigest(.lasting))
        case .data:
            throw FrameDecoder.malformed("data out of place")
        }
    }

    private static func itemNumber(_ payload: inout ByteBuffer) throws(TransferError) -> Int {
        guard let number = payload.readInteger(as: UInt32.self) else { throw FrameDecoder.malformed("no item number") }
        return Int(number)
    }
}

/// The places of one frame's fields in its payload, by tag. Copies and allocates nothing, because a tree of small files
/// has five such frames for each file.
private struct Fields {
    private struct Position {
        var start = 0
        /// Negative if the field is missing.
        var length = -1
    }

    private let payload: ByteBuffer
    private var places = InlineArray<11, Position>(repeating: Position())

    init(_ payload: ByteBuffer) throws(TransferError) {
        self.payload = payload
        var rest = payload
        while rest.readableBytes > 0 {
            guard let (tag, length) = rest.readMultipleIntegers(as: (UInt8, UInt16).self),
                length <= rest.readableBytes
            else { throw FrameDecoder.malformed("a field is cut short") }
            let place = Position(start: rest.readerIndex, length: Int(length))
            rest.moveReaderIndex(forwardBy: Int(length))
            guard let known = FieldTag(rawValue: tag) else { continue }
            guard places[Int(known.rawValue)].length < 0 else {
                throw FrameDecoder.malformed("field \(tag) came twice")
            }
            places[Int(known.rawValue)] = place
        }
    }

    private func place(of tag: FieldTag) -> Position? {
        let place = places[Int(tag.rawValue)]
        return place.length < 0 ? nil : place
    }

    private func text(_ tag: FieldTag) throws(TransferError) -> String? {
        guard let place = place(of: tag) else { return nil }
        do {
            return try payload.getUTF8ValidatedString(at: place.start, length: place.length)
        } catch {
            throw FrameDecoder.malformed("text that is not UTF-8")
        }
    }

    func integer<Value: FixedWidthInteger>(_ tag: FieldTag, as: Value.Type) throws(TransferError) -> Value? {
        guard let place = place(of: tag) else { return nil }
        guard place.length == Value.bitWidth / 8, let integer = payload.getInteger(at: place.start, as: Value.self)
        else {
            throw FrameDecoder.malformed("field \(tag.rawValue) of \(place.length) bytes")
        }
        return integer
    }

    func flag(_ tag: FieldTag) throws(TransferError) -> Bool {
        let value = try integer(tag, as: UInt8.self) ?? 0
        guard value <= 1 else { throw FrameDecoder.malformed("a flag of \(value)") }
        return value == 1
    }

    func time() throws(TransferError) -> Timestamp? {
        guard let place = place(of: .modified) else { return nil }
        guard place.length == 12,
            let seconds = payload.getInteger(at: place.start, as: Int64.self),
            let nanoseconds = payload.getInteger(at: place.start + 8, as: UInt32.self),
            nanoseconds < 1_000_000_000
        else { throw FrameDecoder.malformed("a time that is none") }
        return Timestamp(seconds: seconds, nanoseconds: nanoseconds)
    }

    func path() throws(TransferError) -> SafeRelativePath? {
        guard let text = try text(.path) else { return nil }
        do {
            return try SafeRelativePath(text)
        } catch {
            throw TransferError(.unsafeName, "a path cannot be created: \(error.said(of: text))")
        }
    }

    func requiredPath() throws(TransferError) -> SafeRelativePath {
        guard let path = try path() else { throw FrameDecoder.malformed("no path") }
        return path
    }

    func target(of link: SafeRelativePath) throws(TransferError) -> SafeLinkTarget {
        guard let text = try text(.target) else { throw FrameDecoder.malformed("no target") }
        do {
            return try SafeLinkTarget(text, of: link)
        } catch {
            throw TransferError(.unsafeName, "the link \(link) cannot be created: to \(error.said(of: text))")
        }
    }

    func digest(_ algorithm: DigestAlgorithm) throws(TransferError) -> Digest {
        guard let digest = try optionalDigest(algorithm) else { throw FrameDecoder.malformed("no digest") }
        return digest
    }

    func optionalDigest(_ algorithm: DigestAlgorithm) throws(TransferError) -> Digest? {
        guard let place = place(of: .digest) else { return nil }
        do {
            return try payload.withUnsafeReadableBytes { bytes in
                let start = place.start - payload.readerIndex
                return try Digest(
                    algorithm, bytes: UnsafeRawBufferPointer(rebasing: bytes[start..<start + place.length]))
            }
        } catch {
            throw FrameDecoder.malformed("a digest of \(place.length) bytes")
        }
    }

    func fault() throws(TransferError) -> TransferError {
        guard let message = try text(.message), message.utf8.count <= FrameHeader.messageBytes else {
            throw FrameDecoder.malformed("no message, or one too long")
        }
        return TransferError(code: try text(.fault), message: message, cause: try text(.cause))
    }
}
