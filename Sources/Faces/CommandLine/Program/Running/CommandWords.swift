import ArgumentParser
import Glibc
import Lines
import Sharing

/// The words of a command line, before the argument parser reads them.
///
/// The parser takes `-holiday.jpg` for a bundle of short options, finds an `h` in it, and prints its help with exit
/// code 0: `waft send * && rm *` would lose every file.
struct CommandWords {
    private static let help: Set<String> = ["-h", "--help", "--version"]

    /// Options of the parser itself that print something, or their beginnings.
    private static let printing = ["--generate-completion-script", "--experimental-dump-help", "--help-hidden"]

    /// Options whose value is a number, which is never negative.
    private static let numeric: Set<String> = [
        "--timeout", "--port", "--limit", "--before", "--expires", "--passphrase-fd", "--answer-fd",
    ]

    /// Verbs whose words are values, and no files.
    private static let takingValues = [["handlers", "settings"], ["config", "set"]]

    let words: [String]

    /// The only option of one letter is `-h`.
    /// - Parameter command: the program's.
    /// - Throws: usage, for a word that begins with a single hyphen and is neither `-`, `-h`, nor behind `--`.
    func refuseBundles(in command: any ParsableCommand.Type) throws(CommandError) {
        var previous = ""
        for word in words {
            if word == "--" { return }
            defer { previous = word }
            guard word.hasPrefix("-"), !word.hasPrefix("--"), word != "-", word != "-h" else { continue }
            let shown = TerminalText.escaped(word, limit: 200)
            if Self.numeric.contains(previous), Double(word) != nil {
                throw CommandError(.usage, "\(previous) \(shown): the value must be positive")
            }
            if word == words.first, ["-v", "-V", "-version"].contains(word) {
                throw CommandError(
                    .usage, "there is no option \(shown)", hint: "for the version: \(command._commandName) --version")
            }
            let value =
                Self.takingValues.contains(where: words.starts) && !Self.isFile(word)
                ? "for a value that begins with -, write: -- \(shown)"
                : Double(word) != nil && !Self.isFile(word)
                    ? "a number cannot be negative"
                    : "for a file that begins with -, write: ./\(shown); for a value, write: --option=\(shown)"
            let near = SendWords.withValue.contains("-\(word)") ? "; did you mean -\(shown)?" : ""
            throw CommandError(.usage, "there is no option \(shown)\(near)", hint: value)
        }
    }

    /// A `*` puts names of files before the options: a file with the name `--dry-run` would be taken for the option,
    /// and nothing would be sent, with exit code 0.
    /// - Parameter isFile: Whether a file of this name is in the working directory.
    /// - Throws: usage, for an option in front of `--` that is the name of a file too.
    func refuseFilesNamedLikeOptions(isFile: (String) -> Bool = Self.isFile) throws(CommandError) {
        let options = words.prefix { $0 != "--" }.filter { $0.hasPrefix("-") && $0 != "-" }
        guard let word = options.first(where: isFile) else { return }
        let shown = TerminalText.escaped(word, limit: 200)
        throw CommandError(
            .usage, "\(shown) is an option, and a file here has the same name",
            hint: "for the file, write: ./\(shown); for the option, run the command in another folder")
    }

    private static func isFile(_ name: String) -> Bool {
        var status = stat()
        return lstat(name, &status) == 0
    }

    // MARK: Commands

    /// The command that the words name.
    struct NamedCommand {
        /// The names of the commands, with the program's.
        var names: [String]
        var command: any ParsableCommand.Type
        /// The words behind the commands.
        var rest: ArraySlice<String>

        /// For messages: `waft handlers --help`.
        var help: String { names.joined(separator: " ") + " --help" }
    }

    /// - Parameter command: the program's.
    func place(in command: any ParsableCommand.Type) -> NamedCommand {
        var place = NamedCommand(names: [command._commandName], command: command, rest: words[...])
        while let verb = place.rest.first,
            let next = place.command.configuration.subcommands.first(where: { $0._commandName == verb })
        {
            place.names.append(verb)
            (place.command, place.rest) = (next, place.rest.dropFirst())
        }
        return place
    }

    /// Whether the words ask for something that the parser prints: help, the version, a script for completion, or what a
    /// shell completes.
    var wantHelp: Bool {
        ["help", "---completion"].contains(words.first)
            || words.prefix { $0 != "--" }.contains { word in
                Self.help.contains(word) || Self.printing.contains { word.hasPrefix($0) }
            }
    }

    /// Whether the words ask for help or the version, and for something else, such as to send a file `-h`.
    /// - Parameter command: the program's.
    func wantMoreThanHelp(of command: any ParsableCommand.Type) -> Bool {
        let rest = place(in: command).rest
        return rest.count > 1 && rest.contains { Self.help.contains($0) }
    }

    /// The parser answers `help` about a command that does not exist with the help of another one, and exit code 0.
    /// - Throws: usage.
    func refuseHelpOfNothing(in command: any ParsableCommand.Type) throws(CommandError) {
        guard words.first == "help", !HelpPage.topics.contains(words.dropFirst().joined(separator: " ")) else { return }
        let place = CommandWords(words: Array(words.dropFirst())).place(in: command)
        if let failure = ParserError.unknownCommand(at: place) { throw failure }
    }

    // MARK: Names that are not UTF-8

    /// - Throws: `inputMissing`, for a word that is not UTF-8.
    static func refuseRepaired(_ words: some Sequence<String>) throws(CommandError) {
        for word in words where isRepaired(word) {
            throw CommandError(
                .inputMissing, "\(TerminalText.escaped(word, limit: 400)): \(NameError.notUTF8)", hint: "rename it")
        }
    }

    /// Whether a word of this program's command line is not UTF-8: each wrong byte of it stands in `word` as U+FFFD.
    static func isRepaired(_ word: String) -> Bool {
        guard word.unicodeScalars.contains("\u{FFFD}") else { return false }
        return (1..<max(1, Int(CommandLine.argc))).contains { number in
            guard let bytes = CommandLine.unsafeArgv[number] else { return false }
            return String(validatingCString: bytes) == nil && String(cString: bytes) == word
        }
    }
}
