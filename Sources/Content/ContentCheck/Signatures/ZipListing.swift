/// The names in a zip archive that identify its format. Nothing is unpacked, and the limits bound the bytes read.
///
/// Format: PKWARE APPNOTE 6.3.10, sections 4.3.7 to 4.3.16.
struct ZipListing: Hashable, Sendable {
    enum Limits {
        /// Bytes at the end that are searched for the end record: its longest comment, and the record itself.
        static let tail = 65_557

        /// Bytes of the directory.
        static let directory = 256 << 10

        /// Entries.
        static let entries = 4_096

        /// Bytes of a name; longer names are ignored.
        static let name = 512
    }

    var markers: ZipMarkers = []

    /// The contents of the first entry, if it is named `mimetype` and not compressed: OpenDocument, EPUB and others.
    var mimeType: String?

    /// Whether the directory was found and read to its end. Otherwise the archive may have further names.
    var isComplete = false

    init(_ source: some ByteSource, head: UnsafeRawBufferPointer) throws(ReadError) {
        readFirstEntry(head)
        guard let directory = try Self.directory(of: source) else { return }
        isComplete = directory.isWhole
        readDirectory(directory.bytes)
    }

    /// The family, or families, that the names belong to.
    var families: [ZipFamily] { ZipFamily.allCases.filter { $0.holds(markers) } }

    private mutating func readFirstEntry(_ head: UnsafeRawBufferPointer) {
        guard let method = head.short(at: 8), let size = head.long(at: 18), let nameLength = head.short(at: 26),
            let extraLength = head.short(at: 28), nameLength <= Limits.name,
            let name = head.piece(at: 30, count: nameLength)
        else { return }
        markers.formUnion(ZipMarkers(name: name))
        guard method == 0, name.elementsEqual("mimetype".utf8), size > 0, size <= 255,
            let text = head.piece(at: 30 + nameLength + extraLength, count: size),
            text.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return }
        mimeType = String(decoding: text, as: UTF8.self)
    }

    private mutating func readDirectory(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { bytes in
            var position = 0
            var entries = 0
            while bytes.long(at: position) == 0x0201_4B50 {
                guard entries < Limits.entries, let nameLength = bytes.short(at: position + 28),
                    let extraLength = bytes.short(at: position + 30),
                    let commentLength = bytes.short(at: position + 32),
                    let name = bytes.piece(at: position + 46, count: nameLength)
                else {
                    isComplete = false
                    return
                }
                if nameLength <= Limits.name { markers.formUnion(ZipMarkers(name: name)) }
                entries += 1
                position += 46 + nameLength + extraLength + commentLength
            }
            // The remaining bytes are not a directory.
            if position != bytes.count { isComplete = false }
        }
    }

    /// The central directory, or as much of it as the limit allows; nil if there is none.
    private static func directory(
        of source: some ByteSource
    ) throws(ReadError) -> (bytes: [UInt8], isWhole: Bool)? {
        let tailOffset = source.size - min(source.size, UInt64(Limits.tail))
        let tail = try source.read(at: tailOffset, count: Limits.tail)
        guard let end = endRecord(in: tail) else { return nil }
        var size = UInt64(end.size)
        var offset = UInt64(end.offset)
        if end.size == 0xFFFF_FFFF || end.offset == 0xFFFF_FFFF {
            guard let large = try largeDirectory(of: source, tail: tail, endRecord: end.position) else { return nil }
            (size, offset) = large
        } else if tailOffset + UInt64(end.position) >= size {
            // Counted back from its end: bytes may precede the archive without a corrected offset.
            let start = tailOffset + UInt64(end.position) - size
            if try source.read(at: start, count: 4) == [0x50, 0x4B, 0x01, 0x02] { offset = start }
        }
        let bytes = try source.read(at: offset, count: Int(min(size, UInt64(Limits.directory))))
        return (bytes, UInt64(bytes.count) == size)
    }

    /// The last end-of-directory record.
    private static func endRecord(in tail: [UInt8]) -> (position: Int, size: Int, offset: Int)? {
        tail.withUnsafeBytes { tail in
            guard tail.count >= 22 else { return nil }
            for position in stride(from: tail.count - 22, through: 0, by: -1)
            where tail[position] == 0x50 && tail.long(at: position) == 0x0605_4B50 {
                guard let size = tail.long(at: position + 12), let offset = tail.long(at: position + 16) else {
                    return nil
                }
                return (position, size, offset)
            }
            return nil
        }
    }

    /// The position of the directory of an archive of more than 4 GiB: the locator before the end record points to it.
    private static func largeDirectory(
        of source: some ByteSource,
        tail: [UInt8],
        endRecord: Int
    ) throws(ReadError) -> (size: UInt64, offset: UInt64)? {
        guard endRecord >= 20 else { return nil }
        let location: UInt64? = tail.withUnsafeBytes { tail in
            let position = endRecord - 20
            guard tail.long(at: position) == 0x0706_4B50 else { return nil }
            return tail.veryLong(at: position + 8)
        }
        guard let location else { return nil }
        let record = try source.read(at: location, count: 56)
        return record.withUnsafeBytes { record in
            guard record.long(at: 0) == 0x0606_4B50, let size = record.veryLong(at: 40),
                let offset = record.veryLong(at: 48)
            else { return nil }
            return (size, offset)
        }
    }
}

/// Little-endian numbers and pieces, nil beyond the end.
extension UnsafeRawBufferPointer {
    func short(at offset: Int) -> Int? {
        guard offset >= 0, offset <= count - 2 else { return nil }
        return Int(UInt16(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
    }

    func long(at offset: Int) -> Int? {
        guard offset >= 0, offset <= count - 4 else { return nil }
        return Int(UInt32(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
    }

    func veryLong(at offset: Int) -> UInt64? {
        guard offset >= 0, offset <= count - 8 else { return nil }
        return UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    func piece(at offset: Int, count length: Int) -> UnsafeRawBufferPointer? {
        guard offset >= 0, length >= 0, offset <= count, length <= count - offset else { return nil }
        return UnsafeRawBufferPointer(rebasing: self[offset..<offset + length])
    }
}
