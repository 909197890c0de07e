internal import Sharing

/// A code for one transfer that a person reads out or writes down: `7-pumpkin-sausage`.
///
/// The nameplate is a number from 0 to 99 that leads to the machine which shows the code. It is public, and it is not made
/// from the words. The words are the secret: two of 256 are 16 bits, three are 24 bits. A code allows one try.
package struct SpokenCode: Sendable, Hashable {
    /// The nameplates that exist.
    package static let nameplates = 0...99
    /// The numbers of words that a code can have.
    package static let wordCounts = 2...3
    /// Bytes of a text that is read as a code.
    private static let textBytes = 128

    package let nameplate: Int
    package let words: [String]

    /// A new code from the kernel's generator; each is equally likely.
    /// - Parameter words: how many, one of `wordCounts`.
    package static func random(words count: Int) -> SpokenCode {
        precondition(wordCounts.contains(count), "a spoken code of another length")
        var generator = SystemRandomNumberGenerator()
        return SpokenCode(
            nameplate: Int.random(in: nameplates, using: &generator),
            words: (0..<count).map { _ in
                String(WordList.words[Int.random(in: WordList.words.indices, using: &generator)])
            })
    }

    private init(nameplate: Int, words: [String]) {
        (self.nameplate, self.words) = (nameplate, words)
    }

    /// Reads a code as users type it: in any case, with spaces or hyphens, and with words that are cut after enough
    /// letters to be known.
    /// - Throws: `SpokenCodeError`.
    package init(text: String) throws(SpokenCodeError) {
        guard text.utf8.count <= Self.textBytes else { throw .form }
        let parts = text.lowercased().split { $0 == "-" || $0.isWhitespace }
        guard let first = parts.first, first.utf8.count <= 3, let nameplate = Int(first), first.first?.isNumber == true,
            Self.nameplates.contains(nameplate), Self.wordCounts.contains(parts.count - 1)
        else { throw .form }
        self.nameplate = nameplate
        words = try parts.dropFirst().map { part throws(SpokenCodeError) in
            guard let word = Self.word(String(part)) else {
                throw .unknownWord(String(part), near: NearWord.closest(to: String(part), among: Self.allWords))
            }
            return word
        }
    }

    private static let allWords = WordList.words.map(String.init)

    /// The word of the list that begins so; nil if none or several do.
    private static func word(_ beginning: String) -> String? {
        let found = completions(of: beginning)
        return found.contains(beginning) ? beginning : found.count == 1 ? found[0] : nil
    }

    /// The words of the list that begin so, in lower case.
    package static func completions(of beginning: String) -> [String] {
        allWords.filter { $0.hasPrefix(beginning) }
    }

    /// The normal form, which both sides prove: the nameplate without zeros before it, and the whole words in lower case,
    /// joined by hyphens.
    package var text: String { ([String(nameplate)] + words).joined(separator: "-") }
}

/// Why a text is no spoken code. The text was not used: nothing is spent.
package enum SpokenCodeError: Error, Hashable, Sendable {
    /// It is not a number and two or three words.
    case form
    /// A word is not in the list.
    case unknownWord(String, near: String?)
}
