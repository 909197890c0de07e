/// Bytes of a header; every number beyond their end is nil.
struct HeaderBytes {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Up to `count` bytes of a source; none after a fault.
    init(of source: some ByteSource, at offset: UInt64, count: Int) {
        self.init((try? source.read(at: offset, count: count)) ?? [])
    }

    var count: Int { bytes.count }

    func byte(_ offset: Int) -> UInt8? { bytes.indices.contains(offset) ? bytes[offset] : nil }

    /// The number in `count` bytes, at most four.
    private func number(_ offset: Int, _ count: Int, isBigEndian: Bool) -> UInt32? {
        guard offset >= 0, offset <= bytes.count - count else { return nil }
        let part = bytes[offset..<offset + count]
        return isBigEndian
            ? part.reduce(0) { $0 << 8 | UInt32($1) } : part.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    func big16(_ offset: Int) -> UInt32? { number(offset, 2, isBigEndian: true) }
    func big32(_ offset: Int) -> UInt32? { number(offset, 4, isBigEndian: true) }
    func little16(_ offset: Int) -> UInt32? { number(offset, 2, isBigEndian: false) }
    func little24(_ offset: Int) -> UInt32? { number(offset, 3, isBigEndian: false) }
    func little32(_ offset: Int) -> UInt32? { number(offset, 4, isBigEndian: false) }

    func number16(_ offset: Int, isBigEndian: Bool) -> UInt32? { number(offset, 2, isBigEndian: isBigEndian) }
    func number32(_ offset: Int, isBigEndian: Bool) -> UInt32? { number(offset, 4, isBigEndian: isBigEndian) }

    /// - Parameter text: its characters stand for bytes, as in ISO 8859-1.
    func hasText(_ text: String, at offset: Int) -> Bool {
        let wanted = text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
        return offset <= bytes.count - wanted.count && bytes[offset...].starts(with: wanted)
    }
}
