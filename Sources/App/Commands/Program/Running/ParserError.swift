import ArgumentParser
import Settings

/// Errors of the argument parser in the form of every other failure: the failed action, its reason, and advice.
enum ParserError {
    /// - Parameters:
    ///   - error: no help, no version: a failure.
    ///   - command: the program's.
    static func make(
        _ error: any Error, _ words: CommandWords, of command: any ParsableCommand.Type
    ) -> CommandError {
        let message = line(command.message(for: error))
        guard command.exitCode(for: error) == .validationFailure else { return CommandError(.unexpected, message) }
        let place = words.place(in: command)
        return unknownCommand(at: place) ?? CommandError(.usage, message, hint: "see: \(place.help)")
    }

    /// - Returns: nil unless a word stands where a command should.
    static func unknownCommand(at place: CommandWords.Place) -> CommandError? {
        let known = place.command.configuration.subcommands.map { $0._commandName }
        guard let word = place.rest.first, !word.hasPrefix("-"), !known.isEmpty else { return nil }
        let group = place.names.dropFirst().map { $0 + " " }.joined()
        let likely = NearWord.closest(to: word, among: known).map { "; did you mean \(group)\($0)?" } ?? ";"
        return CommandError(
            .usage,
            "no such command \"\(group)\(TerminalText.escaped(word, limit: 64))\"\(likely) \(place.help) lists them")
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
