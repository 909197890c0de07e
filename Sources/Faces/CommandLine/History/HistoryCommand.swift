import ArgumentParser
import Lines
import Operations

/// Options of `waft inbox list` and `waft history` that show only some arrivals.
struct ArrivalFilterOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Only items of a type, and of the types that conform to it.", valueName: "uti"),
        completion: .types)
    var type: String?

    @Option(
        help: ArgumentHelp("Only items from this sender: its name, or the beginning of its id.", valueName: "peer"),
        completion: .contacts)
    var from: String?

    @Option(help: ArgumentHelp("Only items that arrived within this time, such as 2d.", valueName: "duration"))
    var since: String?

    @Option(
        help: ArgumentHelp(
            "Only items in this state: \(ArrivalState.words). opened is yes, deferred is waiting for a handler that asked for more time.",
            valueName: "state"), completion: .list(ArrivalState.allCases.map(\.rawValue)))
    var state: String?

    var isEmpty: Bool { type == nil && from == nil && since == nil && state == nil }

    /// - Returns: nil for everything.
    func choice(_ waft: Waft) throws(WaftError) -> ArrivalChoice? {
        try isEmpty ? nil : ArrivalChoice(type: type, from: from, since: since, state: state, waft, words: \.line)
    }
}

/// `waft history`: the arrivals and the results of their handlers.
struct HistoryCommand: AsyncParsableCommand, InboxItemVerb {
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
        guard !sent else {
            guard before == nil, filter.isEmpty else {
                throw CommandError(
                    .usage, "--before, --type, --from, --since and --state are for received items only")
            }
            let lines = try CommandContext.forgiving.waft.history.sent(latest: limit)
            if lines.isEmpty { output.note("nothing was sent yet") }
            for line in lines { output.show(line) }
            return
        }
        let lines = try await output.doing { waft throws(WaftError) in
            try waft.history.arrivals(latest: limit, before: before, filter.choice(waft))
        }
        if lines.isEmpty { output.note(filter.isEmpty ? "nothing has arrived yet" : "no such items") }
        for line in lines { output.show(line) }
    }
}
