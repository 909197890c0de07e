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
