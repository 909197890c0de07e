import ArgumentParser
import Foundation
import Lines
import Operations

/// `waft doctor`: finds out why machines do not see each other, or why a transfer does not start.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Find out why machines do not see each other, or why a transfer does not start.",
        discussion: """
            Example: waft doctor --peer kitchen

            Each line is ok, a warning or a problem; the line below it names the next step. It changes nothing. Run it on \
            both machines. Exit code 0 without a problem, 1 with one.
            """
    )

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A machine to reach: a contact's or machine's name, the beginning of its id, or address[:port].",
            valueName: "name-or-address"),
        completion: .peers)
    var peer: String?

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let lines = try await CommandError.catching { () throws(WaftError) in
            try await Doctor.examine(ProcessInfo.processInfo.environment, peer: peer) {
                CommandContext(home: $0, settings: $1).logger("waft")
            }
        }
        for line in lines { output.show(line) }
        if lines.contains(where: { $0.result == .problem }) { throw WaftExit.unexpected.code }
    }
}

extension CheckLine: WordedLine {
    var words: [String] {
        let (word, margin) = (result.rawValue, String(repeating: " ", count: 9))
        return [
            "\(word)\(margin.dropFirst(word.count))\(name): \(TerminalText.escaped(reason, limit: 1_000))"
        ] + [hint].compactMap { $0.map { margin + TerminalText.escaped($0, limit: 1_000) } }
    }
}
