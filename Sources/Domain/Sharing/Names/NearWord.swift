/// The word that a mistyped one was meant to be.
package enum NearWord {
    /// - Returns: the one of `words` that begins with `word`, or has at most two other letters; nil if there is none.
    package static func closest(to word: String, among words: [String]) -> String? {
        // Words of a hostile length are compared with nothing.
        guard word.count > 1, word.count <= 32 else { return nil }
        let word = word.lowercased()
        let rated = words.map { name in
            let lowercased = name.lowercased()
            return (name: name, distance: lowercased.hasPrefix(word) ? 0 : distance(word, lowercased))
        }
        guard let best = rated.min(by: { $0.distance < $1.distance }), best.distance <= min(2, word.count / 2) else {
            return nil
        }
        return best.name
    }

    /// Letters to be inserted, left out, replaced, or exchanged with the next one, to make one word the other.
    private static func distance(_ first: String, _ second: String) -> Int {
        let (a, b) = (Array(first), Array(second))
        var rows = [Array(0...b.count)]
        for i in a.indices.map({ $0 + 1 }) {
            var row = [i]
            for j in b.indices.map({ $0 + 1 }) {
                var cost = min(rows[i - 1][j] + 1, row[j - 1] + 1, rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1))
                if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] { cost = min(cost, rows[i - 2][j - 2] + 1) }
                row.append(cost)
            }
            rows.append(row)
        }
        return rows[a.count][b.count]
    }
}
