import ArgumentParser
import Lines
import Operations
import Sharing

/// Options that select items of the Inbox: the same for each verb that works on several. An item has to fit all of them.
struct SelectionOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp("Select items by their numbers, such as 1-50,60.", valueName: "list"))
    var numbers: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Select items by a pattern for their names in the Inbox, such as 'f*.txt'.", valueName: "pattern"))
    var match: String?

    @OptionGroup var filter: ArrivalFilterOptions

    @Flag(name: .customLong("dry-run"), help: "Print the items, and change nothing.")
    var dryRun = false

    /// Whether no option selects; then words name the items.
    var isEmpty: Bool { numbers == nil && match == nil && filter.isEmpty }

    /// Checks that the items are either named or selected.
    /// - Parameter hasWords: whether words name items.
    func check(hasWords: Bool) throws(ValidationError) {
        if hasWords, !isEmpty { throw ValidationError("Name items or select them, not both.") }
        if !hasWords, isEmpty {
            throw ValidationError("Name an item, or select several: --numbers 1-5, --match '*.txt', --since 2d.")
        }
    }

    /// The items that the words name, in their order; without words the selected ones, in the order of arrival.
    /// - Throws: `CommandError`; an exit code after the items were printed for `--dry-run`.
    func items(_ words: [String], _ output: OutputOptions) async throws -> [ChosenItem] {
        let items = try await output.doing { waft throws(WaftError) in
            isEmpty
                ? try words.map(waft.inbox.item)
                : try waft.inbox.items(numbers.map(NumberSet.init), matching: match, filter.choice(waft))
        }
        guard dryRun else { return items }
        try await output.each(items, called: \.subject) { item, waft throws(WaftError) in
            try waft.inbox.arrival(of: item)
        }
        throw WaftExit.done.code
    }
}

/// Whether to wait for the handlers that read an item before it leaves the Inbox.
struct ReaderOptions: ParsableArguments {
    @Flag(name: .long, help: "Do not wait for a handler that still reads an item.")
    var now = false
}

extension ChosenItem {
    /// - Throws: `CommandError` `usage` for a word that means two items.
    init(word: String) throws(CommandError) {
        let inbox = try CommandContext.forgiving.waft.inbox
        do throws(WaftError) { self = try inbox.item(word) } catch { throw CommandError(error) }
    }
}

/// `waft inbox take`: move items out.
struct InboxTakeCommand: AsyncParsableCommand, InboxItemVerb {
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
        let folder = words[words.count - 1]
        let items = try await selection.items(words.dropLast(), output)
        try await output.each(
            items, called: \.subject,
            resultOf: { item, waft throws(WaftError) in
                var progress = ProgressLine(total: item.size)
                var bytes: UInt64 = 0
                defer { Console.shared.endStatus() }
                return try await waft.inbox.take(item, to: folder, name: name, now: readers.now) { count in
                    bytes &+= UInt64(count)
                    guard Console.shared.isInteractive else { return }
                    Console.shared.status(progress.text(bytes: bytes, at: .now, width: Console.shared.width))
                }
            })
    }
}

/// `waft inbox remove`: delete items.
struct InboxRemoveCommand: AsyncParsableCommand, InboxItemVerb {
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
        let items = try await selection.items(arrivals, output)
        if !selection.isEmpty, !yes { try await ask(items) }
        try await output.each(
            items, called: \.subject,
            resultOf: { item, waft throws(WaftError) in try await waft.inbox.remove(item, now: readers.now) })
    }

    /// Items that are listed above the question.
    private static let shownItems = 10

    /// - Throws: `CommandError`: `usage` where nobody can be asked, `declined` without a yes.
    private func ask(_ items: [ChosenItem]) async throws(CommandError) {
        let bytes = items.reduce(UInt64(0)) { $0 &+ $1.size }
        let amount = "\(items.count == 1 ? "1 item" : "\(items.count) items"), \(ByteCount.text(bytes))"
        guard LineReader.hasTerminal, !output.json else {
            throw CommandError(
                .usage, "\(amount) would be removed: --yes does it", hint: "--dry-run lists what is selected")
        }
        let lines = try await output.doing { waft throws(WaftError) in
            try items.prefix(Self.shownItems).map { item throws(WaftError) in try waft.inbox.arrival(of: item) }
        }
        for line in lines.flatMap(\.words) { Console.shared.note(line) }
        if items.count > Self.shownItems { Console.shared.note("  and \(items.count - Self.shownItems) more") }
        Console.shared.prompt("Remove \(amount)? [y/n] ")
        let answer = await LineReader.terminalLine()
        Console.shared.answered()
        guard let answer, ["y", "yes"].contains(answer.lowercased()) else {
            throw CommandError(.declined, "nothing was removed")
        }
    }
}

/// `waft inbox retry`: ask handlers again.
struct InboxRetryCommand: AsyncParsableCommand, InboxItemVerb {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Give items to their handlers again, and wait for the answers.",
        discussion: """
            Example: waft inbox retry 12, or: waft inbox retry --state failed

            A handler that says no or later, or fails, is exit code 16. Ctrl-C ends the wait, and the receiver goes on; with \
            --no-wait the command ends at once. 69 if no receiver is running.
            """
    )

    @Argument(
        help: ArgumentHelp("Numbers of items, as waft inbox shows them, or their names.", valueName: "item"),
        completion: .inboxItems)
    var arrivals: [String] = []

    @OptionGroup var selection: SelectionOptions

    @Flag(name: .long, help: "Do not wait for the answers of the handlers.")
    var noWait = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        try selection.check(hasWords: !arrivals.isEmpty)
    }

    func run() async throws {
        let items = try await selection.items(arrivals, output)
        if noWait {
            return try await output.each(
                items, called: \.subject,
                resultOf: { item, waft throws(WaftError) in try await waft.inbox.retry(item) })
        }
        let (waft, output) = (try CommandContext.forgiving.waft, output)
        let exit: WaftExit
        do {
            exit = try await Interruption.watching(Cancellation(), goodbye: .zero) {
                try await waft.inbox.retry(items) { Self.show($0, output) }
            }
        } catch let error as WaftError {
            throw CommandError(error)
        } catch is CancellationError {
            throw WaftExit.interrupted.code
        }
        if exit != .done { throw exit.code }
    }

    private static func show(_ step: Arrivals.RetryStep, _ output: OutputOptions) {
        switch step {
        case .begun(_, .success(let line)): output.show(line, as: [])
        case .begun(let item, .failure(let failure)): output.fail(CommandError(failure), of: item.subject)
        case .waiting(let count):
            Console.shared.status("waiting for \(count == 1 ? "the answer" : "\(count) answers")")
        case .answered(let line, let outcome):
            Console.shared.endStatus()
            switch outcome {
            case .success(let handler):
                let by = handler.map { " by \(TerminalText.escaped($0))" } ?? ""
                output.show(line, as: ["\(line.head): opened\(by)"])
            case .failure(let failure):
                output.show(line, as: [])
                output.note("waft: \(CommandError(failure))")
            }
        }
    }
}
