import ArgumentParser
import Control
import Endpoints
import Journal
import Settings
import Sharing

/// `waft inbox retry`: ask handlers again.
struct InboxRetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Give an item to its handler again.",
        discussion: "Example: waft inbox retry 12, or: waft inbox retry report.pdf"
    )

    @Argument(
        help: ArgumentHelp("Numbers of items, as waft inbox shows them, or their names.", valueName: "item"),
        completion: .inboxItems)
    var arrivals: [String]

    @OptionGroup var output: OutputOptions

    func run() async throws {
        var exit = WaftExit.done
        for wanted in arrivals {
            guard let failure = try await retry(wanted) else { continue }
            if exit == .done { exit = failure.exit }
        }
        if exit != .done { throw exit.code }
    }

    /// - Returns: the failure, which has been shown; nil after a success.
    private func retry(_ wanted: String) async throws(CommandError) -> CommandError? {
        let named = Int64(wanted) == nil ? try JournalReading.entry(wanted) : nil
        guard let number = Int64(wanted) ?? named?.arrival.number.value else {
            return show(
                CommandError(.inputMissing, JournalReading.unknown(wanted), hint: "see: waft inbox"), .wanted(wanted))
        }
        switch try await Daemon.ask(.retry(arrival: number)) {
        case .done:
            output.json
                ? EventLine.retried(EventLine.Retried(arrival: number)).print()
                : Console.shared.result("item \(number): given to its handler again")
            return nil
        case .unknown(let reason):
            return show(CommandError(.inputMissing, TerminalText.escaped(reason)), .arrival(number))
        case .refused(let reason):
            return show(
                CommandError(.unexpected, "item \(number): \(TerminalText.escaped(reason))"), .arrival(number))
        default: throw CommandError(.unexpected, "the receiver gave no answer")
        }
    }

    private func show(_ failure: CommandError, _ subject: EventLine.Subject) -> CommandError {
        output.json ? EventLine(failure, of: subject).print() : Console.shared.note("waft: \(failure)")
        return failure
    }
}
