import ArgumentParser
import ContentCheck
import Control
import Endpoints
import HandlerCatalog
import Handlers
import Inbox
import Journal
import Lines
import Settings
import Sharing

/// `waft inbox take`: move items out.
struct InboxTakeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "take",
        abstract: "Move items out of the Inbox, with the modes of your own files.",
        discussion: """
            Example: waft inbox take 12 report.pdf ~/Documents, or: waft inbox take --from study --since 2d ~/Pictures

            A word is the number of an item, its name or its path, and never a pattern; options select several items. \
            Existing files are never replaced: if the name exists, a number is added. On another disk the item is copied, \
            synced, read back and compared before it is deleted here. Exit code 15 if a handler still reads an item after \
            five seconds. A protected item is opened on its way out; exit code 18 while it is locked.
            """
    )

    @Argument(
        help: ArgumentHelp(
            "Numbers or names of items, then the target folder.",
            valueName: "item> ... <folder"), completion: .inboxItemsAndFolders)
    var words: [String] = []

    @OptionGroup var selection: SelectionOptions

    @Option(
        name: .long,
        help: ArgumentHelp("New name of the item; refused if the name exists.", valueName: "name"))
    var name: String?

    @OptionGroup var readers: ReaderOptions

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard let folder = words.last else {
            throw ValidationError("Name items and the target folder, such as: waft inbox take 12 ~/Documents.")
        }
        if words.count == 1, selection.isEmpty {
            throw ValidationError("\(folder) alone is not enough: name items, then the target folder.")
        }
        try selection.check(hasWords: words.count > 1)
        guard name == nil || words.count == 2 else { throw ValidationError("--name needs one item that you name.") }
    }

    func run() async throws {
        let name = try self.name.map { text throws(CommandError) in
            do throws(NameError) { return try SafeName(text) } catch {
                throw CommandError(.usage, "--name cannot be used: \(TerminalText.escaped(error.said(of: text)))")
            }
        }
        let context = try CommandContext.forgiving
        let leaving = Leaving(inbox: try context.inbox, now: readers.now, json: output.json)
        let directory = words[words.count - 1]
        let items = try selection.items(words.dropLast(), context)
        if selection.dryRun { throw ChosenItem.show(items, context.people, json: output.json).code }
        let exit = try await leaving.each(items) { entry throws(LeavingError) in
            let size = entry.arrival.size
            var progress = ProgressLine(total: size)
            var bytes: UInt64 = 0
            let taken = try InboxLeaving.take(
                entry.arrival, inbox: leaving.inbox, to: directory, name: name, keys: ReceiverKeys.keys
            ) { count in
                bytes &+= UInt64(count)
                guard Console.shared.isInteractive else { return }
                Console.shared.status(progress.text(bytes: bytes, at: .now, width: Console.shared.width))
            }
            Console.shared.endStatus()
            return Leaving.Ending(
                how: .taken, toward: taken.path,
                words: "\(Glyph.arrow) \(TerminalText.escaped(taken.path, limit: 4_096))",
                remark: taken.remark, hasLeft: taken.hasLeft)
        }
        if exit != .done { throw exit.code }
    }
}
