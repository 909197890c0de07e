/// Reads the old-style text form of a `.strings` file: `"key" = "text";`, with comments as in C.
///
/// Accepts no nested lists, and does not recurse. Foundation's reader of this form accepts almost any text, and follows
/// nested lists to any depth.
struct StringsText {
    /// UTF-16, as the escapes of this form (`\U00fc`) are.
    private let units: [UInt16]
    private var position = 0

    static func read(_ text: String) throws(PropertyListError) -> [String: String] {
        var reader = StringsText(units: Array(text.utf16))
        return try reader.entries()
    }

    private init(units: [UInt16]) { self.units = units }

    private mutating func entries() throws(PropertyListError) -> [String: String] {
        var entries: [String: String] = [:]
        // The braces of a dictionary are usually left out.
        let hasBraces = try take("{")
        while true {
            try skip()
            if position == units.count {
                guard !hasBraces else { throw fault("the closing brace is missing") }
                return entries
            }
            if hasBraces, try take("}") {
                try skip()
                guard position == units.count else { throw fault("there is more after the closing brace") }
                return entries
            }
            let key = try text()
            // A key without a value is its own value.
            let value = try take("=") ? text() : key
            guard try take(";") else { throw fault("a semicolon is missing") }
            entries[key] = value
        }
    }

    // MARK: Texts

    private mutating func text() throws(PropertyListError) -> String {
        try skip()
        guard position < units.count else { throw fault("it ends where a text should be") }
        let found: [UInt16]
        if Self.isQuote(units[position]) {
            found = try quoted()
        } else {
            let start = position
            while position < units.count, Self.isPlain(units[position]) { position += 1 }
            found = Array(units[start..<position])
            guard !found.isEmpty else { throw fault("something else is where a text should be") }
        }
        guard let text = String(validating: found, as: UTF16.self) else { throw fault("a text is not Unicode") }
        return text
    }

    private mutating func quoted() throws(PropertyListError) -> [UInt16] {
        let quote = units[position]
        position += 1
        var text: [UInt16] = []
        while position < units.count {
            let unit = units[position]
            position += 1
            if unit == quote { return text }
            text.append(unit == Self.unit("\\") ? try escaped() : unit)
        }
        throw fault("a text has no closing quote")
    }

    /// The character after a backslash, or the one that it stands for.
    private mutating func escaped() throws(PropertyListError) -> UInt16 {
        guard position < units.count else { throw fault("a text has no closing quote") }
        let unit = units[position]
        position += 1
        switch unit {
        case Self.unit("n"): return Self.unit("\n")
        case Self.unit("r"): return Self.unit("\r")
        case Self.unit("t"): return Self.unit("\t")
        case Self.unit("a"): return 7
        case Self.unit("b"): return 8
        case Self.unit("v"): return 11
        case Self.unit("f"): return 12
        case Self.unit("U"), Self.unit("u"): return try number(radix: 16, digits: 4)
        case Self.unit("0")...Self.unit("7"):
            position -= 1
            let code = try number(radix: 8, digits: 3)
            // Higher octal escapes mean NeXT's own character set.
            guard code < 128 else { throw fault("an octal escape is not ASCII") }
            return code
        default: return unit
        }
    }

    /// Reads at most `digits` digits.
    private mutating func number(radix: Int, digits: Int) throws(PropertyListError) -> UInt16 {
        var value = 0
        var count = 0
        while count < digits, position < units.count, let scalar = Unicode.Scalar(units[position]),
            let digit = Character(scalar).hexDigitValue, digit < radix
        {
            value = value * radix + digit
            count += 1
            position += 1
        }
        guard count > 0 else { throw fault("an escape has no digits") }
        return UInt16(value)
    }

    // MARK: Between texts

    /// Consumes a character if it comes next.
    private mutating func take(_ scalar: Unicode.Scalar) throws(PropertyListError) -> Bool {
        try skip()
        guard position < units.count, units[position] == Self.unit(scalar) else { return false }
        position += 1
        return true
    }

    /// Skips blanks and comments.
    private mutating func skip() throws(PropertyListError) {
        while position < units.count {
            if Unicode.Scalar(units[position])?.properties.isWhitespace == true {
                position += 1
            } else if comes("//") {
                while position < units.count, units[position] != 10, units[position] != 13 { position += 1 }
            } else if comes("/*") {
                let start = position
                position += 2
                while position < units.count, !comes("*/") { position += 1 }
                guard position < units.count else {
                    position = start
                    throw fault("a comment has no end")
                }
                position += 2
            } else {
                return
            }
        }
    }

    private func comes(_ text: String) -> Bool { units[position...].starts(with: text.utf16) }

    private static func unit(_ scalar: Unicode.Scalar) -> UInt16 { UInt16(truncatingIfNeeded: scalar.value) }

    private static func isQuote(_ unit: UInt16) -> Bool { unit == Self.unit("\"") || unit == Self.unit("'") }

    /// Whether a text without quotes may contain this unit.
    private static func isPlain(_ unit: UInt16) -> Bool {
        guard unit < 128, let scalar = Unicode.Scalar(unit) else { return false }
        let character = Character(scalar)
        return character.isLetter || character.isNumber || "_$/:.-".contains(character)
    }

    private func fault(_ reason: String) -> PropertyListError {
        let line = units[..<position].count { $0 == 10 } + 1
        return .malformed("line \(line): \(reason)")
    }
}
