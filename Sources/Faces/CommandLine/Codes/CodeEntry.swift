import Lines
import Operations

/// A spoken code, as keys change it: words are completed, and a word that is none cannot be left. Pure: `CodePrompt` draws it.
struct CodeEntry {
    enum Answer {
        case code(Codes.Typed)
        case givenUp
    }

    /// Candidates that are shown.
    private static let shown = 8
    /// Characters of a code with three long words, and more.
    private static let maximumTyped = 64

    /// In lower case, with hyphens between the parts.
    private(set) var typed = ""
    /// The fault of the last key; nil if there is none.
    private var fault: String?

    /// The beginning of the word that is typed now; nil in the number.
    private var beginning: String? {
        typed.lastIndex(of: "-").map { String(typed[typed.index(after: $0)...]) }
    }

    /// The line below which the code is typed.
    var hint: String {
        if let fault { return fault }
        guard let beginning, !beginning.isEmpty else { return "Tab completes a word." }
        return Self.list(Codes.words(beginningWith: beginning))
    }

    private static func list(_ words: [String]) -> String {
        words.prefix(shown).joined(separator: " ") + (words.count > shown ? " \(Glyph.ellipsis)" : "")
    }

    /// - Returns: the answer if the key gives one.
    mutating func press(_ key: TerminalKey) -> Answer? {
        fault = nil
        switch key {
        case .enter:
            do throws(WaftError) { return .code(try Codes.typed(typed)) } catch {
                fault = ([error.reason] + [error.hint].compactMap(\.self)).joined(separator: "; ")
            }
        case .end: return .givenUp
        case .text(let text):
            for character in text.lowercased() { type(character) }
        // The tabulator.
        case .down: complete()
        case .erase: typed = String(typed.dropLast())
        case .eraseAll: typed = ""
        case .escape, .up, .first, .last: break
        }
        return nil
    }

    private mutating func type(_ character: Character) {
        guard typed.count < Self.maximumTyped else { return }
        guard character == "-" || character.isWhitespace else { return typed.append(character) }
        if typed.isEmpty || typed.hasSuffix("-") { return }
        if beginning == nil || finishWord() { typed += "-" }
    }

    /// - Returns: whether one word of the list is meant.
    private mutating func finishWord() -> Bool {
        guard let beginning else { return false }
        let words = Codes.words(beginningWith: beginning)
        guard words.count == 1 || words.contains(beginning) else {
            fault = words.isEmpty ? unknown(beginning) : Self.list(words)
            return false
        }
        if !words.contains(beginning) { typed = typed.dropLast(beginning.count) + words[0] }
        return true
    }

    private mutating func complete() {
        guard let beginning, !beginning.isEmpty else { return }
        if finishWord() {
            // A code of two words has no third one to come.
            if typed.count(where: { $0 == "-" }) == 1 { typed += "-" }
            return
        }
        let words = Codes.words(beginningWith: beginning)
        guard var common = words.first else { return }
        for word in words { common = String(zip(common, word).prefix { $0 == $1 }.map(\.0)) }
        typed = typed.dropLast(beginning.count) + common
    }

    private func unknown(_ beginning: String) -> String {
        var near = beginning
        while Codes.words(beginningWith: near).isEmpty { near.removeLast() }
        return near.isEmpty
            ? "no word of a code begins so"
            : "no word of a code begins with \(TerminalText.escaped(beginning, limit: 40)): \(Self.list(Codes.words(beginningWith: near)))"
    }
}
