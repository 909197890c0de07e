import ArgumentParser

/// Words of other programs, and the verb of Waft that each means.
enum VerbSynonyms {
    /// The words to type for each; the first that the program has is meant.
    private static let verbs: [String: [String]] = [
        "cancel": ["transfers cancel", "offers cancel"], "device": ["peers"], "devices": ["peers"], "files": ["inbox"],
        "get": ["inbox take"], "list": ["inbox"], "log": ["history"], "logs": ["history"],
        "ls": ["inbox"], "machines": ["peers"], "mv": ["inbox take"], "nearby": ["peers"], "queue": ["outbox"],
        "rm": ["inbox remove"], "scan": ["peers"], "settings": ["config"], "setup": ["config"],
    ]

    /// - Parameter program: the command of `waft`.
    /// - Returns: for example `offers cancel`; nil for a word that means nothing here.
    static func verb(for word: String, in program: any ParsableCommand.Type) -> String? {
        verbs[word]?.first { text in
            let words = text.split(separator: " ").map(String.init)
            return CommandWords(words: words).place(in: program).rest.isEmpty
        }
    }
}
