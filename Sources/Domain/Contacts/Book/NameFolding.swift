import Foundation
import Sharing

/// Forms of names for comparison: without the differences that a reader overlooks.
package enum NameFolding {
    /// The form that two names share if users type them as one name: without differences in case, normalisation (NFKC:
    /// width, ligatures), invisible characters and the number of spaces.
    package static func key(_ name: String) -> String {
        if let plain = plainKey(name) { return plain }
        let folded = compatible(seen(name)).uppercased().lowercased()
        return words(compatible(folded))
    }

    /// The form that two names share if they look alike at a glance: the key without accents, spaces, dots and dashes,
    /// and with each lookalike replaced by its Latin letter (`Lookalikes`).
    ///
    /// For display only: it finds too many similar names rather than too few, and decides nothing.
    package static func skeleton(_ name: String) -> String {
        var skeleton = ""
        let key = key(name)
        let isPlain = key.utf8.allSatisfy { $0 < 0x80 }
        for scalar in (isPlain ? key : key.decomposedStringWithCompatibilityMapping).unicodeScalars {
            if isAccent(scalar) { continue }
            switch scalar.properties.generalCategory {
            case .spaceSeparator, .dashPunctuation, .connectorPunctuation: continue
            default: break
            }
            if scalar == "." || scalar == "·" || scalar == "'" { continue }
            skeleton.unicodeScalars.append(Lookalikes.letter(scalar))
        }
        // `rn` is read as `m`, `vv` as `w`.
        let joined = skeleton.replacingOccurrences(of: "rn", with: "m").replacingOccurrences(of: "vv", with: "w")
        // A name that consists of dashes only keeps its key.
        return joined.isEmpty ? key : joined
    }

    /// The fast path for most names: a book of ten thousand contacts is folded at once.
    private static func plainKey(_ name: String) -> String? {
        guard name.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else { return nil }
        return words(name.lowercased())
    }

    private static func words(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    private static func compatible(_ text: String) -> String { text.precomposedStringWithCompatibilityMapping }

    /// Removes controls, directions, joiners, variation selectors and similar characters.
    private static func seen(_ text: String) -> String {
        var seen = String.UnicodeScalarView()
        for scalar in text.unicodeScalars where !ShownText.isUnseen(scalar) { seen.append(scalar) }
        return String(seen)
    }

    /// The accents of Latin, Greek and Cyrillic. In other scripts such marks are vowels.
    private static func isAccent(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0300...0x036F, 0x1AB0...0x1AFF, 0x1DC0...0x1DFF, 0x20D0...0x20FF, 0xFE20...0xFE2F: true
        default: false
        }
    }
}
