/// A key at a terminal that gives each one at once.
enum TerminalKey: Equatable, Sendable {
    /// One character.
    case text(String)
    case enter, escape, up, down, first, last
    /// The last character, or all of them.
    case erase, eraseAll
    /// The end of the input, by Ctrl-D.
    case end
}

/// Makes keys of the bytes of a terminal. Unknown keys are none.
struct TerminalKeys {
    private static let escape: UInt8 = 0x1B
    /// Bytes of a key that has no end yet. More are no key.
    private static let maximumBytes = 16

    private var bytes: [UInt8] = []

    /// Whether a key may have begun: then a pause says whether it was the Escape key.
    var isPending: Bool { !bytes.isEmpty }

    mutating func take(_ more: [UInt8]) -> [TerminalKey] {
        bytes += more
        var keys: [TerminalKey] = []
        while let (key, count) = next() {
            bytes.removeFirst(count)
            if let key { keys.append(key) }
        }
        return keys
    }

    /// No byte has followed for a moment.
    mutating func pause() -> [TerminalKey] {
        defer { bytes = [] }
        return bytes == [Self.escape] ? [.escape] : []
    }

    /// The next key and its bytes; nil if it has not come whole.
    private func next() -> (key: TerminalKey?, count: Int)? {
        guard let first = bytes.first else { return nil }
        switch first {
        case Self.escape: return sequence()
        case 0x0A, 0x0D: return (.enter, 1)
        case 0x08, 0x7F: return (.erase, 1)
        // Ctrl-U and Ctrl-W.
        case 0x15, 0x17: return (.eraseAll, 1)
        case 0x04: return (.end, 1)
        // Ctrl-P; Ctrl-N and the tabulator.
        case 0x10: return (.up, 1)
        case 0x09, 0x0E: return (.down, 1)
        case 0..<0x20: return (nil, 1)
        default:
            let count = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
            guard bytes.count >= count else { return nil }
            guard let text = String(validating: bytes.prefix(count), as: UTF8.self) else { return (nil, 1) }
            return (.text(text), count)
        }
    }

    /// A key of several bytes: `ESC [`, or `ESC O`, then parameters and a letter.
    private func sequence() -> (key: TerminalKey?, count: Int)? {
        guard bytes.count > 1 else { return nil }
        if bytes[1] == Self.escape { return (.escape, 1) }
        guard bytes[1] == UInt8(ascii: "[") || bytes[1] == UInt8(ascii: "O") else { return (nil, 2) }
        guard let end = bytes.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) }) else {
            return bytes.count > Self.maximumBytes ? (nil, bytes.count) : nil
        }
        let keys: [UInt8: TerminalKey] = [
            UInt8(ascii: "A"): .up, UInt8(ascii: "B"): .down, UInt8(ascii: "H"): .first, UInt8(ascii: "F"): .last,
        ]
        return (keys[bytes[end]], end + 1)
    }
}
