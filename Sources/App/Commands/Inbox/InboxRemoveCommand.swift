import ArgumentParser
import ContentCheck
import Control
import Endpoints
import HandlerCatalog
import Handlers
import Inbox
import Journal
import Lines
import Operations
import Settings
import Sharing

/// `waft inbox remove`: delete items.
struct InboxRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Delete items of the Inbox.",
        discussion: """
            Example: waft inbox remove 12, or: waft inbox remove --match '*.log' --since 2d --dry-run

            A word is the number of an item, its name or its path, and never a pattern: ./12 is the item with the name 12, and \
            -- stands before a name that begins with -. Options select several items, which are deleted after a question, or \
            with --yes. waft inbox verify no longer reports removed items as missing, even if another program moved or deleted \
            them. Exit code 15 if a handler still reads an item after five seconds.
            """
    )

    @Argument(
        help: ArgumentHelp(
            "Numbers of items, as waft inbox shows them, or their names.", valueName: "item"),
        completion: .inboxItems)
    var arrivals: [String] = []

    @OptionGroup var selection: SelectionOptions

    @Flag(name: .long, help: "Delete the selected items without a question.")
    var yes = false

    @OptionGroup var readers: ReaderOptions

    @OptionGroup var output: OutputOptions

    func validate() throws {
        try selection.check(hasWords: !arrivals.isEmpty)
    }

    func run() async throws {
        let context = try CommandContext.forgiving
        let inbox = try context.inbox
        let items = try selection.items(arrivals, context)
        if selection.dryRun { throw ChosenItem.show(items, context.people, json: output.json).code }
        if !selection.isEmpty, !yes { try await ask(items, context.people) }
        let gone = Leaving.Ending(how: .removed, words: "it was gone already")
        let leaving = Leaving(inbox: inbox, now: readers.now, json: output.json, whenReplaced: gone)
        let exit = try await leaving.each(items) { entry throws(LeavingError) in
            let wasThere = try InboxLeaving.remove(entry.arrival, inbox: leaving.inbox)
            return wasThere ? Leaving.Ending(how: .removed, words: "removed") : gone
        }
        if exit != .done { throw exit.code }
    }

    /// Items that are listed above the question.
    private static let shownItems = 10

    /// - Throws: `CommandError`: `usage` where nobody can be asked, `declined` without a yes.
    private func ask(_ items: [ChosenItem], _ people: Acquaintances) async throws(CommandError) {
        let amount = ChosenItem.amount(items)
        guard LineReader.hasTerminal, !output.json else {
            throw CommandError(
                .usage, "\(amount) would be removed: --yes does it", hint: "--dry-run lists what is selected")
        }
        for entry in items.prefix(Self.shownItems).compactMap(\.entry) {
            Console.shared.note(JournalText.line(entry, people))
        }
        if items.count > Self.shownItems { Console.shared.note("  and \(items.count - Self.shownItems) more") }
        Console.shared.prompt("Remove \(amount)? [y/n] ")
        let answer = await LineReader.terminalLine()
        Console.shared.answered()
        guard let answer, ["y", "yes"].contains(answer.lowercased()) else {
            throw CommandError(.declined, "nothing was removed")
        }
    }
}
