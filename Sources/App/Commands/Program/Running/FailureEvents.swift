import ArgumentParser
import Lines

/// The events of a command that was called with `--json` and has failed.
struct FailureEvents {
    /// The command's last line, which says how it ended; nil if there is none.
    private let last: ((WaftExit) -> any Line)?
    /// Standard error of a daemon is its log, which has failures too.
    private let isDaemon: Bool

    /// - Parameter words: of the command line.
    /// - Returns: nil where people read.
    init?(_ words: [String], isDaemon: Bool) {
        self.isDaemon = isDaemon
        guard words.prefix(while: { $0 != "--" }).contains("--json") else { return nil }
        // A receiver prints `done` for each transfer; other verbs print documents.
        last =
            switch words.first {
            case SendCommand.configuration.commandName: { DoneLine(exit: $0) }
            case ShareCommand.configuration.commandName where !words.contains("--list"):
                { CompletedLine(exit: $0) }
            default: nil
            }
    }

    func print(_ failure: CommandError) {
        let output = OutputOptions(json: true)
        output.show(failure.line(), as: [])
        if let last { output.show(last(failure.exit), as: []) }
        if isDaemon { Console.shared.note("waft: \(failure)") }
    }
}
