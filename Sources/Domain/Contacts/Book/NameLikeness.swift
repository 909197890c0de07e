import Sharing

/// How closely a stranger's name resembles the names of contacts, apart from names that look the same.
///
/// A name is similar if it contains a contact's name as whole words (`Oven (contact)`). It is also similar if one
/// letter is replaced, missing, added or swapped with its neighbour (`Owen`, `Ovne`), in names of at least four
/// letters. Names that differ in the first letter are not similar, because people tell names apart by it (`Anna` and
/// `Hanna`). Nor are names that differ in a digit (`laptop-1` and `laptop-2`).
struct NameLikeness {
    /// Minimum letters of a contact's name to look for it among other words.
    private static let shortestWord = 3
    /// Minimum letters of a contact's name to look for names that differ in one letter.
    private static let shortestNear = 4

    /// The skeleton of the whole name, then of each run of its words.
    let skeletons: [String]
    private let whole: [Unicode.Scalar]
    private let key: [Unicode.Scalar]

    /// - Parameter name: at most 63 bytes.
    init(_ name: String) {
        let skeleton = NameFolding.skeleton(name)
        whole = Array(skeleton.unicodeScalars)
        key = Self.plain(name)
        let words = name.unicodeScalars.split { !$0.properties.isAlphabetic && $0.properties.numericType == nil }
            .filter { !$0.allSatisfy(ShownText.isUnseen) }
        var skeletons = [skeleton]
        for first in words.indices where words.count > 1 {
            var run = ""
            for word in words[first...] {
                run += String(word)
                let part = NameFolding.skeleton(run)
                if part.unicodeScalars.count >= Self.shortestWord { skeletons.append(part) }
            }
        }
        self.skeletons = skeletons
    }

    /// Whether a skeleton differs from that of the whole name in one letter only, as described above.
    func isNear(_ skeleton: String) -> Bool {
        let other = Array(skeleton.unicodeScalars)
        guard other.count >= Self.shortestNear, abs(whole.count - other.count) <= 1,
            whole.first == other.first, whole != other
        else { return false }
        var start = 0
        while start < min(whole.count, other.count), whole[start] == other[start] { start += 1 }
        if whole.count == other.count {
            if whole[(start + 1)...] == other[(start + 1)...] { return true }
            return start + 1 < whole.count && whole[start] == other[start + 1] && whole[start + 1] == other[start]
                && whole[(start + 2)...] == other[(start + 2)...]
        }
        let (long, short) = whole.count > other.count ? (whole, other) : (other, whole)
        return long[(start + 1)...].elementsEqual(short[start...])
    }

    /// Whether the names have the same length and differ only in digits.
    func differsInNumber(from other: String) -> Bool {
        let other = Self.plain(other)
        guard key.count == other.count else { return false }
        let different = zip(key, other).filter { $0 != $1 }
        return !different.isEmpty
            && different.allSatisfy { Self.isDigit($0) && Self.isDigit($1) }
    }

    private static func plain(_ name: String) -> [Unicode.Scalar] { Array(NameFolding.key(name).unicodeScalars) }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }
}
