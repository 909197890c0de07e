import Yams

extension MarkedText {
    /// The place after the colon of a key; nil for a key that is not a plain or quoted word on one line.
    func afterColon(of key: Node) -> Int? {
        guard let end = end(of: key) else { return nil }
        let colon = skippingBlanks(from: end)
        return scalars.indices.contains(colon) && scalars[colon] == ":" ? colon + 1 : nil
    }

    /// The place after a node; nil for one whose end cannot be told, such as an alias or a text in several lines.
    func end(of node: Node) -> Int? {
        guard let mark = node.mark, let start = place(of: mark), scalars.indices.contains(start) else { return nil }
        switch (node, scalars[start]) {
        case (_, "&"), (_, "*"), (_, "!"): return nil
        case (.scalar, "\""), (.scalar, "'"): return endOfQuoted(from: start)
        case (.scalar(let scalar), _):
            let letters = Array(scalar.string.unicodeScalars)
            let end = start + letters.count
            return end <= scalars.count && Array(scalars[start..<end]) == letters ? end : nil
        case (.sequence, "["), (.mapping, "{"): return endOfBrackets(from: start)
        case (.sequence(let sequence), _): return sequence.last.flatMap(end)
        case (.mapping(let mapping), _):
            return mapping.map(\.self).last.flatMap { end(of: $0.value) ?? afterColon(of: $0.key) }
        case (.alias, _): return nil
        }
    }

    func skippingBlanks(from place: Int) -> Int {
        scalars[min(place, scalars.count)...].firstIndex { $0 != " " && $0 != "\t" } ?? scalars.count
    }

    /// The beginning of the line below the first line that begins with a text.
    func lineAfter(beginning text: String) -> Int? {
        let wanted = Array(text.unicodeScalars)
        var place = 0
        while place < scalars.count {
            let bounds = bounds(ofLineAt: place)
            if scalars[bounds].starts(with: wanted), bounds.upperBound < scalars.count { return bounds.upperBound }
            place = bounds.upperBound
        }
        return nil
    }

    /// The whole text with another text in one place.
    func text(with text: String, at range: Range<Int>) -> String {
        var result = String.UnicodeScalarView()
        result.append(contentsOf: scalars[..<range.lowerBound])
        result.append(contentsOf: text.unicodeScalars)
        result.append(contentsOf: scalars[range.upperBound...])
        return String(result)
    }

    private func endOfQuoted(from start: Int) -> Int? {
        let quote = scalars[start]
        var place = start + 1
        while place < scalars.count {
            if scalars[place] == "\\", quote == "\"" {
                place += 2
                continue
            }
            if scalars[place] == quote {
                let isDoubled = quote == "'" && place + 1 < scalars.count && scalars[place + 1] == "'"
                if !isDoubled { return place + 1 }
                place += 1
            }
            place += 1
        }
        return nil
    }

    private func endOfBrackets(from start: Int) -> Int? {
        var (depth, place) = (0, start)
        while place < scalars.count {
            switch scalars[place] {
            case "[", "{": depth += 1
            case "]", "}":
                depth -= 1
                if depth == 0 { return place + 1 }
            case "\"", "'":
                // Only where a value can begin: elsewhere it is a letter.
                if let before = scalars[..<place].last(where: { $0 != " " }), "[{,:\n".unicodeScalars.contains(before) {
                    guard let end = endOfQuoted(from: place) else { return nil }
                    place = end
                    continue
                }
            case "#": if place > 0, scalars[place - 1] == " " || Self.isBreak(scalars[place - 1]) { return nil }
            default: break
            }
            place += 1
        }
        return nil
    }
}
