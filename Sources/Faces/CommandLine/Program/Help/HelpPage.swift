import ArgumentParser
import Foundation
import Lines

/// The pages of help that are not the parser's: of `waft`, of the exit codes, and of a group of verbs, which has the options
/// of the verb that runs without a name.
enum HelpPage {
    /// Words behind `waft help` that are no verbs.
    static let topics = ["exit-codes"]

    /// - Parameters:
    ///   - command: the program's.
    ///   - columns: of the terminal; nil to ask for them.
    /// - Returns: nil for words that ask for no help, and where the parser's page is the right one.
    static func text(
        for line: CommandWords, of command: any ParsableCommand.Type, columns: Int? = nil
    ) -> String? {
        guard command == WaftCommand.self else { return nil }
        if line.words == ["help", "exit-codes"] { return exitCodes }
        let asks = line.words.first == "help"
        let place = CommandWords(words: asks ? Array(line.words.dropFirst()) : line.words).place(in: command)
        guard asks ? place.rest.isEmpty : line.words.isEmpty || [["-h"], ["--help"]].contains(place.rest) else {
            return nil
        }
        if place.command == command { return FrontHelp.text }
        guard let usual = place.command.configuration.defaultSubcommand else { return nil }
        return group(place.command, usual, in: command, columns)
    }

    private static var exitCodes: String {
        """
        Exit codes, over all verbs:

        \(WaftExit.table)

        With several items or peers the first failure in the order given decides, and
        every outcome is printed.
        """
    }

    /// The help of a group, with the arguments and options of its default verb in the place of its own.
    private static func group(
        _ group: any ParsableCommand.Type, _ usual: any ParsableCommand.Type, in program: any ParsableCommand.Type,
        _ columns: Int?
    ) -> String {
        let isOfVerb = { (part: String) in part.hasPrefix("ARGUMENTS:") || part.hasPrefix("OPTIONS:") }
        let options = parts(program.helpMessage(for: usual, columns: columns)).filter(isOfVerb).map { part in
            let end = part.firstIndex(of: ":") ?? part.endIndex
            return String(part[..<end]) + " OF \(usual._commandName), WHICH IS THE DEFAULT" + String(part[end...])
        }
        return parts(program.helpMessage(for: group, columns: columns)).flatMap { isOfVerb($0) ? options : [$0] }
            .joined(separator: "\n\n")
    }

    private static func parts(_ help: String) -> [String] {
        help.components(separatedBy: "\n\n").map { $0.trimmingCharacters(in: .newlines) }.filter { !$0.isEmpty }
    }
}

/// The help of `waft` itself: the verbs of the first week, then all others in groups.
enum FrontHelp {
    private static let first = ["receive", "send", "peers", "pair", "offers", "accept", "inbox", "status"]

    private static let groups = [
        (verbs: ["decline", "visible", "contacts", "policy"], about: "who may send, and what"),
        (verbs: ["share", "web", "desk"], about: "other ways to send and receive"),
        (verbs: ["transfers", "outbox", "history"], about: "what moves, what waits, what came before"),
        (verbs: ["handlers", "open"], about: "programs for what arrives, and for URLs"),
        (verbs: ["preview", "open-in", "options", "type"], about: "for any file of this machine"),
        (verbs: ["protection", "unlock", "lock"], about: "seal what arrives while nobody is there"),
        (verbs: ["config", "service", "desktop", "doctor"], about: "set up, and find faults"),
    ]

    /// At most 45 lines of 80 columns, with each verb.
    static var text: String {
        let configuration = WaftCommand.configuration
        var abstracts: [String: String] = [:]
        for verb in configuration.subcommands { abstracts[verb._commandName] = verb.configuration.abstract }
        let grouped = Set(first + groups.flatMap(\.verbs))
        let rest = abstracts.keys.filter { !grouped.contains($0) }.sorted().map { row($0, 36, "") }
        let week = first.map { row($0, 9, abstracts[$0] ?? "") }
        let others = groups.map { row($0.verbs.joined(separator: ", "), 36, $0.about) } + rest
        return """
            \(configuration.abstract)

              kitchen$ waft receive
              study$ waft send photo.jpg --to kitchen

            USAGE: waft <verb> ...

            FOR THE FIRST WEEK:
            \(week.joined(separator: "\n"))

            MORE:
            \(others.joined(separator: "\n"))

            OPTIONS:
            \(row("--json", 18, "One JSON document a line, from each verb that prints."))
            \(row("--version", 18, "Show the version."))
            \(row("-h, --help", 18, "Show help; behind a verb, the help of the verb."))

            waft help VERB shows the help of a verb, waft help exit-codes the exit codes.
            The manual has both: man waft.
            """
    }

    private static func row(_ head: String, _ width: Int, _ text: String) -> String {
        text.isEmpty ? "  \(head)" : "  \(head)\(String(repeating: " ", count: max(2, width - head.count)))\(text)"
    }
}
