import ArgumentParser

/// The events of a command that was called with `--json` and has failed.
struct FailureEvents {
    /// Whether the command's last event says that it is done, and how.
    private let endsWithDone: Bool
    /// Standard error of a daemon is its log, which has failures too.
    private let isDaemon: Bool

    /// - Parameter words: of the command line.
    /// - Returns: nil where people read.
    init?(_ words: [String], isDaemon: Bool) {
        self.isDaemon = isDaemon
        guard words.prefix(while: { $0 != "--" }).contains("--json") else { return nil }
        // A receiver prints `done` for each transfer; other verbs print documents.
        endsWithDone = words.first == SendCommand.configuration.commandName
    }

    func print(_ failure: CommandError) {
        EventLine(failure).print()
        if endsWithDone { EventLine.done(.command(failure.exit)).print() }
        if isDaemon { Console.shared.note("waft: \(failure)") }
    }
}
