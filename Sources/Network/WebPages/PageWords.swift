import Foundation

/// The words of a page in one language.
package struct PageWords: Sendable {
    package let language: String
    /// The file, as scripts get it: a JSON object of texts.
    package let file: [UInt8]
    private let words: [String: String]

    package init(_ language: String, _ file: [UInt8]) {
        (self.language, self.file) = (language, file)
        words = (try? JSONDecoder().decode([String: String].self, from: Data(file))) ?? [:]
    }

    /// The words for a guest, by the value of `Accept-Language`.
    /// - Parameter all: the first one is meant where a guest reads none of them.
    package static func accepted(_ header: String?, of all: [PageWords]) -> PageWords {
        var best: (words: PageWords, quality: Double)?
        for part in (header ?? "").split(separator: ",").prefix(16) {
            let fields = part.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
            guard let tag = fields.first, let language = tag.split(separator: "-").first else { continue }
            let quality = fields.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
            let words = all.first { $0.language == language } ?? (language == "*" ? all[0] : nil)
            if let words, quality > 0, quality > best?.quality ?? 0 { best = (words, quality) }
        }
        return best?.words ?? all[0]
    }

    /// A word, with values in place of `{key}`; the key itself if there is no such word.
    package subscript(_ key: String, _ values: [String: String] = [:]) -> String {
        var text = words[key] ?? key
        for (name, value) in values { text = text.replacing("{\(name)}", with: value) }
        return text
    }

    /// The keys, the same in all languages.
    package var keys: Set<String> { Set(words.keys) }
}
