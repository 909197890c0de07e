import Foundation

/// The words of the page in one language.
struct PageWords: Sendable {
    let language: String
    /// The file, as scripts get it.
    let file: [UInt8]
    private let words: [String: String]

    private init(_ language: String, _ file: [UInt8]) {
        (self.language, self.file) = (language, file)
        words = (try? JSONDecoder().decode([String: String].self, from: Data(file))) ?? [:]
    }

    /// The first one is meant where a guest reads none of them.
    static let all = [PageWords("en", PackageResources.en_json), PageWords("de", PackageResources.de_json)]

    /// The words for a guest, by the value of `Accept-Language`.
    static func accepted(_ header: String?) -> PageWords {
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
    subscript(_ key: String, _ values: [String: String] = [:]) -> String {
        var text = words[key] ?? key
        for (name, value) in values { text = text.replacing("{\(name)}", with: value) }
        return text
    }

    /// The keys, the same in all languages.
    var keys: Set<String> { Set(words.keys) }
}
