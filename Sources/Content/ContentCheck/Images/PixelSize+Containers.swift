/// Formats whose size stands anywhere in the file: each is read with a bound on its parts.
extension PixelSize {
    /// Segments of a JPEG, entries of a TIFF, boxes of a HEIF that are looked at.
    private static let maximumParts = 1_000
    /// Bytes of the metadata of a HEIF that are read.
    private static let metadataBytes = 1 << 20

    /// ITU T.81, B.1.1: segments with their length, until the one that begins a frame.
    static func jpeg(_ source: some ByteSource) -> PixelSize? {
        var offset: UInt64 = 2
        for _ in 0..<maximumParts {
            let part = HeaderBytes(of: source, at: offset, count: 9)
            guard part.byte(0) == 0xFF, let marker = part.byte(1) else { return nil }
            switch marker {
            // A byte that fills up.
            case 0xFF: offset += 1
            // Markers without a segment.
            case 0x01, 0xD0...0xD8: offset += 2
            // The contents and the end: no frame has come before.
            case 0xD9, 0xDA: return nil
            case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
                return PixelSize(width: part.big16(7), height: part.big16(5))
            default:
                guard let length = part.big16(2), length >= 2 else { return nil }
                offset += 2 + UInt64(length)
            }
        }
        return nil
    }

    /// TIFF 6.0, section 2: the first directory.
    static func tiff(_ source: some ByteSource, isBigEndian: Bool) -> PixelSize? {
        let head = HeaderBytes(of: source, at: 0, count: 8)
        guard let place = head.number32(4, isBigEndian: isBigEndian) else { return nil }
        let directory = HeaderBytes(of: source, at: UInt64(place), count: 2 + 12 * maximumParts)
        guard let count = directory.number16(0, isBigEndian: isBigEndian) else { return nil }
        var values: [UInt32: UInt32] = [:]
        for entry in 0..<min(Int(count), maximumParts) {
            let offset = 2 + 12 * entry
            // The tags of width and height; 3 is a number of 16 bits, 4 one of 32.
            guard let tag = directory.number16(offset, isBigEndian: isBigEndian) else { break }
            guard tag == 256 || tag == 257 else { continue }
            values[tag] =
                directory.number16(offset + 2, isBigEndian: isBigEndian) == 3
                ? directory.number16(offset + 8, isBigEndian: isBigEndian)
                : directory.number32(offset + 8, isBigEndian: isBigEndian)
        }
        return PixelSize(width: values[256], height: values[257])
    }

    /// ISO 14496-12 and 23008-12: the largest `ispe` in `meta`, `iprp`, `ipco`. Others are those of thumbnails and tiles.
    static func isoMedia(_ source: some ByteSource) -> PixelSize? {
        var offset: UInt64 = 0
        for _ in 0..<maximumParts {
            let head = HeaderBytes(of: source, at: offset, count: 8)
            // 0 is the rest of the file, 1 a length of 64 bits: no metadata is so long.
            guard let length = head.big32(0), length >= 8 else { return nil }
            if head.hasText("meta", at: 4) {
                let bytes = HeaderBytes(of: source, at: offset, count: min(Int(length), metadataBytes))
                // The box has a version of four bytes before its parts.
                return largest(in: bytes, from: 12)
            }
            offset += UInt64(length)
        }
        return nil
    }

    private static func largest(in meta: HeaderBytes, from start: Int) -> PixelSize? {
        var (offset, largest) = (start, PixelSize?.none)
        for _ in 0..<maximumParts {
            guard let length = meta.big32(offset), length >= 8 else { break }
            if meta.hasText("iprp", at: offset + 4) || meta.hasText("ipco", at: offset + 4) {
                offset += 8
                continue
            }
            if meta.hasText("ispe", at: offset + 4),
                let size = PixelSize(width: meta.big32(offset + 12), height: meta.big32(offset + 16)),
                largest.map({ $0.area < size.area }) ?? true
            {
                largest = size
            }
            offset += Int(length)
        }
        return largest
    }

    private var area: UInt64 { UInt64(width) * UInt64(height) }
}
