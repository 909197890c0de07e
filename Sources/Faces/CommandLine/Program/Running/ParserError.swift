import ArgumentParser
import Lines
import Sharing

/// Errors of the argument parser in the form of every other failure: the failed action, its reason, and advice.
enum ParserError {
    /// - Parameters:
    ///   - error: no help, no version: a failure.
    ///   - command: the program's.
    static func make(
        _ error: any Error, _ words: CommandWords, of command: any ParsableCommand.Type
    ) -> CommandError {
        let place = words.place(in: command)
        let message = line(said(command.message(for: error), in: place))
        guard command.exitCode(for: error) == .validationFailure else { return CommandError(.unexpected, message) }
        return unknownCommand(at: place) ?? CommandError(.usage, message, hint: "see: \(place.help)")
    }

    /// - Returns: nil unless a word stands where a command should.
    static func unknownCommand(at place: CommandWords.NamedCommand) -> CommandError? {
        let known = place.command.configuration.subcommands.map { $0._commandName }
        guard let word = place.rest.first, !word.hasPrefix("-"), !known.isEmpty else { return nil }
        let group = place.names.dropFirst().map { $0 + " " }.joined()
        let shown = TerminalText.escaped(word, limit: 64)
        if place.names.count == 1, let verb = VerbSynonyms.verb(for: word, in: place.command) {
            let name = place.command._commandName
            return CommandError(.usage, "no such command \"\(shown)\"; for that, type: \(name) \(verb)")
        }
        let likely = NearWord.closest(to: word, among: known).map { "; did you mean \(group)\($0)?" } ?? ";"
        return CommandError(
            .usage,
            "no such command \"\(group)\(shown)\"\(likely) \(place.help) lists them")
    }

    /// The parser's words without its notation, `'<item> ...'`, and with an option that is really near to an unknown one.
    private static func said(_ message: String, in place: CommandWords.NamedCommand) -> String {
        if let unknown = message.prefixMatch(of: /Unknown option '(-[^']*)'/) {
            let known = place.command.helpMessage(columns: 200).matches(of: /--[a-z][a-z-]*/).map { String($0.output) }
            let near = NearWord.closest(to: String(unknown.1), among: known).map { "; did you mean \($0)?" } ?? ""
            return "there is no option \(unknown.1)\(near)"
        }
        if let missing = message.wholeMatch(of: /Missing expected argument '<(.*)>(?: \.\.\.)?'/) {
            return "the \(missing.1.replacing("-", with: " ")) is missing"
        }
        return message.replacing(/'(--[a-z-]+) <[^<>]*>'/) { "\($0.1)" }
            .replacing(/'<([^<>]*)>'/) { "the \($0.1.replacing("-", with: " "))" }
    }

    /// The parser's words in one line, which begins with a small letter and has no stop.
    private static func line(_ message: String) -> String {
        // A list of values comes as lines that begin with a bullet.
        let lines = message.split(whereSeparator: \.isNewline).map { line in
            line.hasPrefix("  - ") ? line.dropFirst(4) : line
        }
        let line = lines.joined(separator: " ")
        let text = line.prefix(1).lowercased() + line.dropFirst()
        return TerminalText.escaped(text.hasSuffix(".") ? String(text.dropLast()) : text, limit: 1_000)
    }
}

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
