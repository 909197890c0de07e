import Lines
import Operations
import Sharing

extension DeskCall {
    private struct Typed: Decodable, Sendable {
        var text: String
    }

    private struct Taking: Decodable, Sendable {
        /// As it was typed.
        var code: String
        /// The beginning of the key that the right machine shows; nil for any.
        var key: String?
        /// Whether a code that has failed here is tried once more.
        var again: Bool?
    }

    /// Spoken codes that are typed here.
    static let codes: [String: DeskCall] = [
        "codes/read": DeskCall { (typed: Typed, desk) in
            try await desk.lines.add(ReadCode(typed.text))
            return .done
        },
        "codes/receive": DeskCall { (wanted: Taking, desk) in
            let code = try Codes.typed(wanted.code)
            let search = try Codes.Search(showing: wanted.key, triesAgain: wanted.again == true)
            let waft = try desk.host.strict()
            do {
                return try await desk.showing { show in
                    try await waft.codes.receive(code, search) { $0.line.map(show) }
                    return .done
                }
            } catch let error as WaftError {
                if let fault = error.codeFault { try await desk.lines.add(CodeFaultLine(fault)) }
                throw error
            }
        },
    ]
}

extension Codes.Step {
    var line: (any Line)? {
        switch self {
        case .open(let line): line
        case .spent(let line): line
        case .met(let line): line
        case .remembered(let line): line
        case .moved(let line): line
        case .arrived(let line): line
        case .ended(let line): line
        }
    }
}

/// A code, or the beginning of one, as it is known while a person types it.
struct ReadCode: DeskLine {
    /// A word that may stand for the part in doubt.
    struct Choice: Encodable {
        var word: String
        /// The whole text with it.
        var text: String
    }

    private static let choices = 8
    private static let bytes = 256

    var event = "read"
    /// With all words that are known in full.
    var text = ""
    /// The code in its normal form, if it is one.
    var code: String?
    /// The first part that is in no code: a word, or something that has no place there; nil if there is none.
    var wrong: String?
    /// For the first part that is not known.
    var choices: [Choice] = []

    init(_ typed: String) {
        var parts = String(decoding: typed.utf8.prefix(Self.bytes), as: UTF8.self).lowercased()
            .split { $0 == "-" || $0.isWhitespace }.map(String.init)
        var doubt: (place: Int, words: [String])?
        for (place, part) in parts.enumerated() {
            if place == 0, Int(part).map(Codes.numbers.contains) == true { continue }
            let isWord = (1...Codes.wordCounts.upperBound).contains(place)
            let words = isWord ? Codes.words(beginningWith: part) : []
            if words.contains(part) { continue }
            if words.count == 1 {
                parts[place] = words[0]
                continue
            }
            let near = isWord ? NearWord.closest(to: part, among: Codes.words(beginningWith: "")) : nil
            doubt = (place, words.isEmpty ? near.map { [$0] } ?? [] : words)
            if words.isEmpty { wrong = part }
            break
        }
        text = parts.joined(separator: "-")
        if let doubt {
            choices = doubt.words.prefix(Self.choices).map { word in
                var parts = parts
                parts[doubt.place] = word
                let isShort = parts.count <= Codes.wordCounts.lowerBound
                return Choice(word: word, text: parts.joined(separator: "-") + (isShort ? "-" : ""))
            }
        } else {
            code = try? Codes.typed(typed).text
        }
    }
}

/// The fault of a code that was typed.
private struct CodeFaultLine: DeskLine {
    var event = "codeFault"
    var fault: String
    /// The beginnings of the keys of the machines that say to show it.
    var keys: [String]?

    init(_ fault: CodeFault) {
        switch fault {
        case .wrongWords: self.fault = "wrong"
        case .spent: self.fault = "spent"
        case .failedBefore: self.fault = "before"
        case .claimed(let keys): (self.fault, self.keys) = ("claimed", keys)
        case .askedTooOften: self.fault = "often"
        }
    }
}
