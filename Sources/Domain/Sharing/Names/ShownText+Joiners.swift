extension ShownText {
    /// Whether a joiner (U+200C, U+200D) stands where its script needs it, by the rules of RFC 5892, A.1 and A.2: behind
    /// a virama, or as U+200C between two Arabic letters that would join without it, and each time before a letter.
    /// Elsewhere a joiner can be drawn as nothing, and two names that differ would look the same.
    static func isJoiner(at index: String.Index, in text: String.UnicodeScalarView) -> Bool {
        let scalar = text[index]
        guard scalar == "\u{200C}" || scalar == "\u{200D}", index > text.startIndex else { return false }
        let next = text.index(after: index)
        guard next < text.endIndex, text[next].properties.generalCategory == .otherLetter else { return false }
        if text[text.index(before: index)].properties.canonicalCombiningClass == .virama { return true }
        let letter = text[..<index].last { $0.properties.generalCategory != .nonspacingMark }
        guard scalar == "\u{200C}", let letter else { return false }
        return joinsNext(letter) && isArabicLetter(text[next]) && !joinsNothing.contains(text[next])
    }

    /// Whether an Arabic letter joins the letter behind it (Joining_Type D).
    private static func joinsNext(_ scalar: Unicode.Scalar) -> Bool {
        isArabicLetter(scalar) && !joinsNothing.contains(scalar)
            && !joinsOnlyPrevious.contains { $0.contains(scalar.value) }
    }

    private static func isArabicLetter(_ scalar: Unicode.Scalar) -> Bool {
        (0x0620...0x06FF).contains(scalar.value) && scalar.properties.generalCategory == .otherLetter
    }

    /// Joining_Type U.
    private static let joinsNothing: Set<Unicode.Scalar> = ["\u{621}", "\u{674}"]
    /// Joining_Type R.
    private static let joinsOnlyPrevious: [ClosedRange<UInt32>] = [
        0x622...0x625, 0x627...0x627, 0x629...0x629, 0x62F...0x632, 0x648...0x648, 0x671...0x677, 0x688...0x699,
        0x6C0...0x6C0, 0x6C3...0x6CB, 0x6CD...0x6CD, 0x6CF...0x6CF, 0x6D2...0x6D5, 0x6EE...0x6EF,
    ]
}
