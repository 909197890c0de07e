import ContentCheck

/// The first lines of a text.
package struct TextPreview: Hashable, Sendable {
    /// How the bytes are read.
    package enum Encoding: String, Hashable, Sendable {
        case utf8 = "UTF-8"
        case utf16 = "UTF-16"
        /// Of an older encoding it is not known which one: its letters beyond ASCII may be others.
        case latin1 = "ISO 8859-1"
    }

    package let encoding: Encoding
    /// Without their ends. They can have control characters.
    package let lines: [String]
    /// Whether the text has more: further lines, or the rest of a line.
    package let isCut: Bool

    init(encoding: Encoding, lines: [String], isCut: Bool) {
        (self.encoding, self.lines, self.isCut) = (encoding, lines, isCut)
    }

    /// Reads the beginning of a text.
    ///
    /// - Parameters:
    ///   - form: as the content check has found it.
    ///   - lines: maximum number of lines.
    init(_ source: PreviewSource, _ form: TextForm, lines maximum: Int) {
        let bytes = source.bytes(at: 0, count: PreviewBounds.textBytes)
        let isWhole = UInt64(bytes.count) >= source.size
        switch form {
        case .utf8: encoding = .utf8
        case .utf16: encoding = .utf16
        case .eightBit: encoding = .latin1
        }
        let (lines, isShortened) = Self.lines(of: Self.utf8(bytes, encoding), maximum)
        (self.lines, isCut) = (lines, isShortened || !isWhole)
    }

    /// The same text in UTF-8, without a byte order mark.
    private static func utf8(_ bytes: [UInt8], _ encoding: Encoding) -> [UInt8] {
        switch encoding {
        case .utf8: return bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
        case .utf16:
            let isBigEndian = bytes.first == 0xFE
            let units = stride(from: 2, to: bytes.count - 1, by: 2).map { index -> UInt16 in
                let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
                return isBigEndian ? first << 8 | second : second << 8 | first
            }
            return Array(String(decoding: units, as: UTF16.self).utf8)
        case .latin1:
            var utf8: [UInt8] = []
            for byte in bytes {
                if byte < 0x80 { utf8.append(byte) } else { utf8 += [0xC0 | (byte >> 6), 0x80 | (byte & 0x3F)] }
            }
            return utf8
        }
    }

    /// Lines end with LF, CR LF or CR.
    private static func lines(of bytes: [UInt8], _ maximum: Int) -> (lines: [String], isShortened: Bool) {
        var lines: [String] = []
        var isShortened = false
        var rest = bytes[...]
        while !rest.isEmpty {
            guard lines.count < maximum else { return (lines, true) }
            let line = rest.prefix { $0 != 0x0A && $0 != 0x0D }
            if line.count > PreviewBounds.lineBytes { isShortened = true }
            lines.append(String(decoding: line.prefix(PreviewBounds.lineBytes), as: UTF8.self))
            let end = rest[line.endIndex...]
            rest = end.dropFirst(end.starts(with: [0x0D, 0x0A]) ? 2 : 1)
        }
        return (lines, isShortened)
    }
}
