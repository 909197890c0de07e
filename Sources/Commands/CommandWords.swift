import ArgumentParser

/// The words of a command line, before the argument parser reads them.
///
/// The parser takes `-holiday.jpg` for a bundle of short options, finds an `h` in it, and prints its help with exit code 0:
/// `waft send * && rm *` would lose every file.
struct CommandWords {
    private static let help: Set<String> = ["-h", "--help"]

    let words: [String]

    /// The only option of one letter is `-h`.
    /// - Throws: usage, for a word that begins with a single hyphen and is neither `-`, `-h`, nor behind `--`.
    func refuseBundles() throws(CommandFailure) {
        for word in words {
            if word == "--" { return }
            guard word.hasPrefix("-"), !word.hasPrefix("--"), word != "-", word != "-h" else { continue }
            let shown = TerminalText.escaped(word, limit: 200)
            throw CommandFailure(
                .usage, "there is no option \(shown)",
                hint: "for a file that begins with -, write: ./\(shown); for a value, write: --option=\(shown)")
        }
    }

    /// Whether the words ask for help and for something else, such as to send a file that is called `-h`.
    /// - Parameter command: the program's.
    func wantMoreThanHelp(of command: any ParsableCommand.Type) -> Bool {
        var (command, rest) = (command, words[...])
        while let verb = rest.first,
            let next = command.configuration.subcommands.first(where: { $0._commandName == verb })
        {
            (command, rest) = (next, rest.dropFirst())
        }
        return rest.count > 1 && rest.contains { Self.help.contains($0) }
    }
}
