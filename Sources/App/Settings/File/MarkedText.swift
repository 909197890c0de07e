import Yams

/// A YAML text, with the places to which the marks of its nodes point.
struct MarkedText {
    private(set) var scalars: [Unicode.Scalar]
    /// Where each line begins.
    private let starts: [Int]

    init(_ text: String) {
        let scalars = Array(text.unicodeScalars)
        var starts = [0]
        for (index, scalar) in scalars.enumerated() where Self.ends(scalar, before: index + 1, in: scalars) {
            starts.append(index + 1)
        }
        (self.scalars, self.starts) = (scalars, starts)
    }

    var text: String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        return String(text)
    }

    /// The place of a mark; nil if the text has no such place.
    func place(of mark: Mark) -> Int? {
        guard starts.indices.contains(mark.line - 1), mark.column > 0 else { return nil }
        let start = starts[mark.line - 1]
        // A byte order mark has no column.
        let place = start + mark.column - 1 + (start == 0 && scalars.first == "\u{FEFF}" ? 1 : 0)
        return place <= scalars.count ? place : nil
    }

    /// The line of a place, from 1.
    func line(of place: Int) -> Int {
        var (low, high) = (0, starts.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if starts[middle] <= place { low = middle } else { high = middle }
        }
        return low + 1
    }

    /// The first place of the line with a place, and the first place after its line break.
    func bounds(ofLineAt place: Int) -> Range<Int> {
        let line = line(of: place)
        return starts[line - 1]..<(line < starts.count ? starts[line] : scalars.count)
    }

    /// Exchanges one character, and no place moves.
    mutating func exchange(_ place: Int, for scalar: Unicode.Scalar) { scalars[place] = scalar }

    /// The line breaks of YAML 1.1, with CR LF as one.
    static func isBreak(_ scalar: Unicode.Scalar) -> Bool {
        ["\n", "\r", "\u{85}", "\u{2028}", "\u{2029}"].contains(scalar)
    }

    private static func ends(_ scalar: Unicode.Scalar, before next: Int, in scalars: [Unicode.Scalar]) -> Bool {
        if scalar == "\r", scalars.indices.contains(next), scalars[next] == "\n" { return false }
        return isBreak(scalar)
    }
}
