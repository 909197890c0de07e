/// The form of bytes that can be read as text.
package enum TextForm: String, Sendable, Hashable, Codable {
    /// UTF-8, ASCII among it.
    case utf8

    /// UTF-16 with a byte order mark.
    case utf16

    /// Neither, but without control characters: an older encoding, such as Latin-1 or Shift JIS.
    case eightBit

    /// The text form of the start of some content; nil if it has bytes that no text has. Empty content is text.
    ///
    /// - Parameter isWhole: whether the head is all the content; otherwise the last character may be incomplete.
    init?(_ head: UnsafeRawBufferPointer, isWhole: Bool) {
        if let isBigEndian = Self.byteOrder(head) {
            guard Self.isUTF16(head.dropFirst(2), isBigEndian: isBigEndian, isWhole: isWhole) else { return nil }
            self = .utf16
            return
        }
        var position = 0
        var isUTF8 = true
        while position < head.count {
            if isUTF8, position + 8 <= head.count, Self.isPlain(head, at: position) {
                position += 8
                continue
            }
            let byte = head[position]
            if byte < 0x80 {
                guard Self.isAllowed(byte) else { return nil }
                position += 1
            } else if isUTF8, let length = Self.sequence(head, at: position, isWhole: isWhole) {
                position += length
            } else {
                isUTF8 = false
                position += 1
            }
        }
        self = isUTF8 ? .utf8 : .eightBit
    }

    /// Whether the eight bytes from here on are printable ASCII; most of most text is.
    private static func isPlain(_ head: UnsafeRawBufferPointer, at position: Int) -> Bool {
        let word = head.loadUnaligned(fromByteOffset: position, as: UInt64.self)
        // The high bits of bytes that are 0x80 and above, then of those below 0x20.
        return (word | (word &- 0x2020_2020_2020_2020)) & 0x8080_8080_8080_8080 == 0
    }

    /// The control characters that texts have: bell to carriage return, the end of file of DOS, escape.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        byte >= 0x20 || (byte >= 0x07 && byte <= 0x0D) || byte == 0x1A || byte == 0x1B
    }

    /// The length of a well-formed UTF-8 sequence (Unicode, table 3-7) that starts here with a byte above 0x7F.
    private static func sequence(_ head: UnsafeRawBufferPointer, at position: Int, isWhole: Bool) -> Int? {
        let length: Int
        let second: ClosedRange<UInt8>
        switch head[position] {
        case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xE1...0xEC, 0xEE...0xEF: (length, second) = (3, 0x80...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: return nil
        }
        for index in 1..<length {
            guard position + index < head.count else { return isWhole ? nil : index }
            let byte = head[position + index]
            guard index == 1 ? second.contains(byte) : (0x80...0xBF).contains(byte) else { return nil }
        }
        return length
    }

    /// Whether the head has a byte order mark of UTF-16, and which one.
    private static func byteOrder(_ head: UnsafeRawBufferPointer) -> Bool? {
        guard head.count >= 2 else { return nil }
        return switch (head[0], head[1]) {
        case (0xFE, 0xFF): true
        case (0xFF, 0xFE): false
        default: nil
        }
    }

    private static func isUTF16(_ units: Slice<UnsafeRawBufferPointer>, isBigEndian: Bool, isWhole: Bool) -> Bool {
        if isWhole, !units.count.isMultiple(of: 2) { return false }
        var afterHighSurrogate = false
        var position = units.startIndex
        while position + 1 < units.endIndex {
            let (first, second) = (UInt16(units[position]), UInt16(units[position + 1]))
            let unit = isBigEndian ? first << 8 | second : second << 8 | first
            let isLowSurrogate = unit & 0xFC00 == 0xDC00
            guard isLowSurrogate == afterHighSurrogate, unit >= 0x20 || isAllowed(UInt8(unit)), unit != 0xFFFF else {
                return false
            }
            afterHighSurrogate = unit & 0xFC00 == 0xD800
            position += 2
        }
        return !(afterHighSurrogate && isWhole)
    }
}
