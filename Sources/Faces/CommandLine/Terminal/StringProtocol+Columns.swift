extension StringProtocol {
    /// Columns that the text takes on a terminal. Marks and signs without a width of their own count none. A sign of two columns, such as of Japanese, Korean or an emoji, counts two,
    /// and each part of a joined emoji counts: terminals that do not join them never get more than this.
    /// The selector that makes an emoji of a sign (U+FE0F) counts one.
    var columns: Int { unicodeScalars.reduce(0) { $0 + $1.columns } }

    /// The text with spaces behind it.
    /// - Parameters:
    ///   - width: columns of the result, if the text is not longer.
    ///   - gap: spaces at least.
    func padded(to width: Int, gap: Int = 0) -> String {
        self + String(repeating: " ", count: Swift.max(gap, width - columns))
    }

    /// The first characters, which take at most so many columns.
    func prefix(columns limit: Int) -> SubSequence {
        var (room, end) = (limit, startIndex)
        while end < endIndex {
            room -= String(self[end]).columns
            guard room >= 0 else { break }
            formIndex(after: &end)
        }
        return self[..<end]
    }
}

extension Unicode.Scalar {
    fileprivate var columns: Int {
        guard !isASCII else { return 1 }
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark: return self == "\u{FE0F}" ? 1 : 0
        case .format: return self == "\u{AD}" ? 1 : 0
        default:
            if Self.joined.contains(where: { $0.contains(value) }) { return 0 }
            return properties.isEmojiPresentation || Self.wide.contains { $0.contains(value) } ? 2 : 1
        }
    }

    /// The vowels and ends of a Korean syllable, which are drawn into its beginning.
    private static let joined: [ClosedRange<UInt32>] = [0x1160...0x11FF, 0xD7B0...0xD7FF]

    /// The blocks that are wide or full width (Unicode Standard Annex 11).
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3,
        0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF,
        0x1F200...0x1F265, 0x1F300...0x1F64F, 0x1F900...0x1FAFF, 0x20000...0x3FFFD,
    ]
}
