extension StringProtocol {
    /// Columns that the text takes on a terminal. A sign of two columns, such as of Japanese, Korean or an emoji, counts two,
    /// and each part of a joined emoji counts: terminals that do not join them never get more than this.
    var columns: Int { unicodeScalars.reduce(0) { $0 + $1.columns } }

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
        case .nonspacingMark, .enclosingMark: return 0
        default: return properties.isEmojiPresentation || Self.wide.contains { $0.contains(value) } ? 2 : 1
        }
    }

    /// The blocks that are wide or full width (Unicode Standard Annex 11).
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3,
        0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF,
        0x1F200...0x1F265, 0x1F300...0x1F64F, 0x1F900...0x1FAFF, 0x20000...0x3FFFD,
    ]
}
