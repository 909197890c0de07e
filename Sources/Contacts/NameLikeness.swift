/// How near the name that a stranger gives itself comes to those of contacts.
///
/// What counts, besides names that look the same: a contact's name as whole words among others (`Oven (contact)`), and
/// one letter that is another, missing, added or exchanged with its neighbour (`Owen`, `Ovne`) in names of four letters and
/// more. What does not: a difference in the first letter, by which people tell names apart (`Anna` and `Hanna`), and names
/// that differ in a digit (`laptop-1` and `laptop-2`).
struct NameLikeness {
    /// Letters of a contact's name that is looked for among other words.
    private static let shortestWord = 3
    /// Letters of a contact's name from which another may differ in one.
    private static let shortestNear = 4

    /// Those of the name as a whole, and then of each run of words in it.
    let skeletons: [String]
    private let whole: [Unicode.Scalar]
    private let key: [Unicode.Scalar]

    /// - Parameter name: at most 63 bytes.
    init(_ name: String) {
        let skeleton = NameFolding.skeleton(name)
        whole = Array(skeleton.unicodeScalars)
        key = Self.plain(name)
        let words = name.unicodeScalars.split { !$0.properties.isAlphabetic && $0.properties.numericType == nil }
            .filter { !$0.allSatisfy(NameFolding.isUnseen) }
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

    /// Whether a skeleton is another one, and differs from that of the whole name in one letter as is said above.
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

    /// Whether the names are of one length and differ in nothing but digits.
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
