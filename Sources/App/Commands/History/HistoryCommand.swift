import ArgumentParser
import Control
import Endpoints
import Journal
import Lines
import Settings
import Sharing

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
        guard (1...100_000).contains(limit) else { throw CommandError(.usage, "--limit is 1 to 100000") }
        if sent {
            guard before == nil, filter.isEmpty else {
                throw CommandError(
                    .usage, "--before, --type, --from, --since and --state are for received items only")
            }
            return try SentHistory.show(latest: limit, json: output.json)
        }
        let (limit, before) = (self.limit, self.before.map(ArrivalNumber.init))
        let context = try CommandContext.forgiving
        let choice = try filter.isEmpty ? nil : ArrivalChoice(filter, context)
        let entries = try JournalReading.read { reader throws(JournalError) in
            try reader.entries(latest: limit, before: before, filter: choice?.filter ?? .all)
        }
        if entries.isEmpty, !output.json {
            return Console.shared.note(
                choice == nil ? "nothing has arrived yet" : "no such items")
        }
        let people = context.people
        for entry in entries.sorted(by: { $0.arrival.number < $1.arrival.number }) {
            Console.shared.result(
                output.json ? EventLine.arrival(JournalFields(entry, people)).text : JournalText.line(entry, people))
        }
    }
}
