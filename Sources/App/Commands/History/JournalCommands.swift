import ArgumentParser
import Control
import Endpoints
import Foundation
import Journal
import Settings
import Sharing

/// Reads the journal: while a receiver writes it, and when none is running.
enum JournalReading {
    static func read<Value>(
        _ body: (JournalReader) throws(JournalFault) -> Value
    ) throws(CommandFailure) -> Value {
        let home = try Surroundings().home
        do {
            return try body(JournalReader(folder: home.state, dialects: .known))
        } catch {
            throw CommandFailure(.unexpected, TerminalText.escaped(error.description, limit: 1_000))
        }
    }

    /// Finds an arrival, with its attempts, by its number or by its name in the Inbox. If several arrivals have had
    /// that name, the latest that is still there is returned, or else the latest.
    static func entry(_ wanted: String) throws(CommandFailure) -> JournalEntry? {
        try read { reader throws(JournalFault) -> JournalEntry? in
            if let number = Int64(wanted), let entry = try reader.entry(ArrivalNumber(number)) { return entry }
            let named = try reader.entries(named: wanted)
            guard let meant = named.first(where: \.isThere) ?? named.first else { return nil }
            return try reader.entry(meant.arrival.number)
        }
    }

    static func unknown(_ wanted: String) -> String {
        "no item is named or numbered \"\(TerminalText.escaped(wanted))\""
    }
}

/// `waft history`: the arrivals and the results of their handlers.
struct HistoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "List received items and handler results.",
        discussion: """
            Example: waft history --limit 20, or: waft history --sent

            The latest item comes last. Details: waft inbox show NUMBER. Filters: waft history --type public.image --since 2d
            """
    )

    @Option(name: .long, help: ArgumentHelp("Number of lines.", valueName: "count"))
    var limit = 50

    @Option(name: .long, help: ArgumentHelp("List only items before this number.", valueName: "number"))
    var before: Int64?

    @Flag(name: .long, help: "List what this machine sent instead, one transfer a line.")
    var sent = false

    @OptionGroup var filter: ArrivalFilterOptions

    @OptionGroup var output: OutputOptions

    func run() async throws {
        guard (1...100_000).contains(limit) else { throw CommandFailure(.usage, "--limit is 1 to 100000") }
        if sent {
            guard before == nil, filter.isEmpty else {
                throw CommandFailure(
                    .usage, "--before, --type, --from, --since and --state are for received items only")
            }
            return try SentHistory.show(latest: limit, json: output.json)
        }
        let (limit, before) = (self.limit, self.before.map(ArrivalNumber.init))
        let surroundings = try Surroundings()
        let choice = try filter.isEmpty ? nil : ArrivalChoice(filter, surroundings)
        let entries = try JournalReading.read { reader throws(JournalFault) in
            try reader.entries(latest: limit, before: before, filter: choice?.filter ?? .all)
        }
        if entries.isEmpty, !output.json {
            return Console.shared.note(
                choice == nil ? "nothing has arrived yet" : "no such items")
        }
        let people = surroundings.people
        for entry in entries.sorted(by: { $0.arrival.number < $1.arrival.number }) {
            let line = output.json ? EventLine.arrival(JournalFields(entry)).text : JournalText.line(entry, people)
            Console.shared.result(line)
        }
    }
}

/// `waft inbox show`: everything about one arrival.
struct InboxShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show everything about an item, with each call of a handler.",
        discussion: "Example: waft inbox show 12, or: waft inbox show report.pdf"
    )

    @Argument(
        help: ArgumentHelp(
            "Number of the item, as waft history shows it, or its name in the Inbox.", valueName: "item"),
        completion: .inboxItems)
    var arrival: String

    @OptionGroup var output: OutputOptions

    func run() async throws {
        guard let entry = try JournalReading.entry(arrival) else {
            throw CommandFailure(.inputMissing, JournalReading.unknown(arrival), hint: "see: waft history")
        }
        if output.json { return EventLine.arrival(JournalFields(entry)).print() }
        for line in JournalText.lines(entry, try Surroundings().people) { Console.shared.result(line) }
    }
}

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
    private func retry(_ wanted: String) async throws(CommandFailure) -> CommandFailure? {
        let named = Int64(wanted) == nil ? try JournalReading.entry(wanted) : nil
        guard let number = Int64(wanted) ?? named?.arrival.number.value else {
            return show(
                CommandFailure(.inputMissing, JournalReading.unknown(wanted), hint: "see: waft inbox"), .wanted(wanted))
        }
        switch try await Daemon.ask(.retry(arrival: number)) {
        case .done:
            output.json
                ? EventLine.retried(EventLine.Retried(arrival: number)).print()
                : Console.shared.result("item \(number): given to its handler again")
            return nil
        case .unknown(let reason):
            return show(CommandFailure(.inputMissing, TerminalText.escaped(reason)), .arrival(number))
        case .refused(let reason):
            return show(
                CommandFailure(.unexpected, "item \(number): \(TerminalText.escaped(reason))"), .arrival(number))
        default: throw CommandFailure(.unexpected, "the receiver gave no answer")
        }
    }

    private func show(_ failure: CommandFailure, _ subject: EventLine.Subject) -> CommandFailure {
        output.json ? EventLine(failure, of: subject).print() : Console.shared.note("waft: \(failure)")
        return failure
    }
}
