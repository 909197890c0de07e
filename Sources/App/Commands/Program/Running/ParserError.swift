import ArgumentParser

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
        let likely = closest(to: word, among: known).map { "; did you mean \(group)\($0)?" } ?? ";"
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

    // MARK: Typing errors

    /// - Returns: the name that `word` was probably meant to be: it begins so, or has at most two other letters.
    private static func closest(to word: String, among names: [String]) -> String? {
        // Words of a hostile length are compared with nothing.
        guard word.count > 1, word.count <= 32 else { return nil }
        let word = word.lowercased()
        let rated = names.map { name in (name: name, distance: name.hasPrefix(word) ? 0 : distance(word, name)) }
        guard let best = rated.min(by: { $0.distance < $1.distance }), best.distance <= min(2, word.count / 2) else {
            return nil
        }
        return best.name
    }

    /// Letters to be inserted, left out, replaced, or exchanged with the next one, to make one word the other.
    private static func distance(_ first: String, _ second: String) -> Int {
        let (a, b) = (Array(first), Array(second))
        var rows = [Array(0...b.count)]
        for i in a.indices.map({ $0 + 1 }) {
            var row = [i]
            for j in b.indices.map({ $0 + 1 }) {
                var cost = min(rows[i - 1][j] + 1, row[j - 1] + 1, rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1))
                if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] { cost = min(cost, rows[i - 2][j - 2] + 1) }
                row.append(cost)
            }
            rows.append(row)
        }
        return rows[a.count][b.count]
    }
}
