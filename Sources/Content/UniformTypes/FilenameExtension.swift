/// The rules of file name extensions.
enum FilenameExtension {
    /// The length of the longest extension, in bytes. A longer one is none: its dynamic identifier would not fit.
    static let maximumByteCount = 128

    /// How many parts an extension may have (`tar.gz` has two).
    static let maximumParts = 3

    /// The lower-case form of an extension, given without its first dot.
    ///
    /// Returns nil for text that is no extension: empty, too long, with an empty part, a slash, white space, or
    /// characters that control or reorder text. `Report v1. Final` has no extension.
    static func normalized(_ text: some StringProtocol) -> String? {
        guard text.utf8.prefix(maximumByteCount + 1).count <= maximumByteCount else { return nil }
        let lowercased = text.lowercased()
        // Some letters grow when they change case.
        guard lowercased.utf8.count <= maximumByteCount, lowercased.unicodeScalars.allSatisfy(isAllowed) else {
            return nil
        }
        let parts = lowercased.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count <= maximumParts, parts.allSatisfy({ !$0.isEmpty }) else { return nil }
        return lowercased
    }

    /// The extensions that a file name may be said to have, lower-case, the longest first: for `a.tar.gz` they are
    /// `tar.gz` and `gz`. Dots at the start of a name hide a file and start no extension.
    static func candidates(in name: String) -> [String] {
        let dot = UInt8(ascii: ".")
        let visible = name.utf8.drop { $0 == dot }
        var candidates: [String] = []
        var end = visible.endIndex
        while candidates.count < maximumParts,
            let position = visible[..<end].suffix(maximumByteCount + 1).lastIndex(of: dot),
            let candidate = normalized(name[visible.index(after: position)...])
        {
            candidates.insert(candidate, at: 0)
            end = position
        }
        return candidates
    }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        if scalar == "/" { return false }
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator, .surrogate: false
        default: true
        }
    }
}
