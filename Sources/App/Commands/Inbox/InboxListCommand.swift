import ArgumentParser
import Contacts
import Endpoints
import Inbox
import Journal
import Lines
import Operations
import Sending
import Settings
import Sharing
import UniformTypes

/// `waft inbox list`: the contents of the Inbox.
struct InboxListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the items in the Inbox.",
        discussion: """
            Example: waft inbox list --json, or: waft inbox list --type public.image --from study --since 2d

            The newest item is the last. With --type, --from, --since or --state only items that Waft has stored are listed, including those in folders \
            of the Inbox. --watch prints one line for each new item, each handler result and each item that leaves, until \
            Ctrl-C; exit code 69 if no receiver is running, or when it ends.
            """
    )

    @Flag(name: .long, help: "Keep running, and print a line for each item that arrives or leaves.")
    var watch = false

    @OptionGroup var filter: ArrivalFilterOptions

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard !watch || filter.since == nil else {
            throw ValidationError("--watch shows only new events: leave --since out")
        }
    }

    func run() async throws {
        let context = try CommandContext.forgiving
        let choice = try filter.isEmpty ? nil : ArrivalChoice(filter, context)
        if watch {
            return try await InboxWatch(choice: choice, json: output.json).run()
        }
        let inbox = try context.inbox
        let rows =
            try choice.map { choice throws(CommandError) in try Self.rows(choice, in: inbox) } ?? Self.rows(inbox)
        if rows.isEmpty, !output.json {
            let what = choice == nil ? "nothing" : "no such items"
            return Console.shared.note("\(what) in \(TerminalText.escaped(context.home.inbox))")
        }
        let people = context.people
        if !output.json { Console.shared.result(InboxRow.heading) }
        for row in rows {
            guard !output.json else {
                EventLine.entry(row.fields(people)).print()
                continue
            }
            Console.shared.result(row.line(people))
            if let mark = row.entry.mark { Console.shared.result("            \(TerminalText.escaped(mark))") }
        }
        if !output.json { Console.shared.result(InboxRow.summary(rows)) }
    }

    /// Everything in the Inbox's own folder.
    private static func rows(_ inbox: String) throws(CommandError) -> [InboxRow] {
        let entries: [InboxListing.Entry]
        do throws(InboxError) {
            entries = try InboxListing.entries(at: inbox)
        } catch {
            throw CommandError(.unexpected, TerminalText.escaped(error.message))
        }
        // Items in a folder have no rows here: the folder has one.
        let own = ((try? JournalReading.entriesThere()) ?? []).filter { entry in
            PathText.part(of: entry.arrival.stored.path, below: inbox).map { !$0.contains("/") }
                ?? (entry.arrival.destination.folder == nil)
        }
        let byName = Dictionary(own.map { ($0.arrival.nameOnDisk, $0) }) { _, later in later }
        let rows = entries.map { entry in
            let known = byName[entry.name]
            return InboxRow(entry: entry, shownName: known?.arrival.stored.name.text ?? entry.name, known)
        }
        return InboxRow.sorted(rows)
    }

    /// The wanted arrivals that are in the Inbox.
    private static func rows(_ choice: ArrivalChoice, in inbox: String) throws(CommandError) -> [InboxRow] {
        try JournalReading.entriesThere(choice.filter).compactMap { known in
            let arrival = known.arrival
            let path = arrival.stored.path
            guard let name = PathText.part(of: path, below: inbox), let entry = InboxListing.entry(at: path) else {
                return nil
            }
            let own = arrival.protection.isSealed && arrival.item.kind != .tree ? SealedName.own(name) : nil
            return InboxRow(entry: entry, shownName: own ?? name, known)
        }
    }
}
