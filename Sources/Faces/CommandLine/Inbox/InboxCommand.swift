import ArgumentParser
import Glibc
import Lines
import Operations
import Settings
import Sharing

/// `waft inbox`: the arrivals.
struct InboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inbox",
        abstract: "List, check, show, open, move out and delete the items of the Inbox.",
        subcommands: [
            InboxListCommand.self, InboxShowCommand.self, InboxPreviewCommand.self, InboxOptionsCommand.self,
            InboxOpenCommand.self, InboxOpenInCommand.self, InboxCatCommand.self, InboxTakeCommand.self,
            InboxRemoveCommand.self, InboxVerifyCommand.self, InboxProtectCommand.self, InboxUnprotectCommand.self,
            InboxRetryCommand.self, InboxAdoptCommand.self,
        ],
        defaultSubcommand: InboxListCommand.self
    )
}

/// A verb that names items of the Inbox. Before it runs, the journal learns the names and the places that their user has
/// given them since.
protocol InboxItemVerb {}

extension InboxOpenCommand: InboxItemVerb {}
extension InboxOpenInCommand: InboxItemVerb {}
extension InboxOptionsCommand: InboxItemVerb {}
extension InboxPreviewCommand: InboxItemVerb {}

/// `waft inbox list`: the contents of the Inbox.
struct InboxListCommand: AsyncParsableCommand, InboxItemVerb {
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
        if watch { return try await follow() }
        let (lines, inbox) = try await output.doing { waft throws(WaftError) in
            (try waft.inbox.list(filter.choice(waft)), waft.home.inbox)
        }
        guard !lines.isEmpty else {
            return output.note("\(filter.isEmpty ? "nothing" : "no such items") in \(TerminalText.escaped(inbox))")
        }
        output.say(EntryLine.heading)
        for line in lines { output.show(line) }
        output.say(EntryLine.summary(lines))
    }

    /// Shows arrivals, the answers of handlers, and departures.
    private func follow() async throws {
        let output = output
        let choice = try await output.doing { waft throws(WaftError) in try filter.choice(waft) }
        try await output.follow { event in
            switch event {
            case .ready(let line): output.show(line, as: [])
            case .arrival(let line) where choice?.isWanted(event) != false: output.show(line, as: [Self.words(line)])
            default: break
            }
        }
    }

    static func words(_ line: ArrivalLine) -> String {
        let toward = TerminalText.escaped(line.toward ?? "", limit: 4_096)
        switch line.change {
        case .stored:
            let lies = line.content == "lying" ? ": content does not match its type, no handler asked" : ""
            return "\(line.head)  \(ByteCount.text(line.size)) from \(line.from.line(via: line.via))\(lies)"
        case .opened, .deferred, .failed: return "\(line.head): \(words(line.handlerAnswer ?? "", line.arrival))"
        case .taken: return "\(line.head): taken to \(toward)"
        case .removed: return "\(line.head): removed"
        case .gone: return "\(line.head): gone after \(toward) was asked"
        }
    }

    /// The meaning of a handler's answer, in the words of `waft history`.
    private static func words(_ answer: String, _ number: Int64) -> String {
        switch HandlerAnswer.State(rawValue: answer) {
        case .yes: "opened"
        case .no: "no handler wants it"
        case .later: "its handler will be asked again later"
        case .failed: "the handler failed; again: waft inbox retry \(number)"
        case .pending, .some(.none), nil: "no handler asked"
        }
    }
}

/// `waft inbox show`: everything about one arrival.
struct InboxShowCommand: AsyncParsableCommand, InboxItemVerb {
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
        let line = try await output.doing { waft throws(WaftError) in try waft.inbox.show(arrival) }
        output.show(line, as: line.details)
    }
}

/// `waft inbox cat`: write the contents of an item to standard output.
struct InboxCatCommand: AsyncParsableCommand, InboxItemVerb {
    static let configuration = CommandConfiguration(
        commandName: "cat",
        abstract: "Write the contents of an item to standard output.",
        discussion: """
            Example: waft inbox cat 12 | less

            The item stays in the Inbox. A protected item is opened for it; exit code 18 while it is locked, 17 if it was \
            changed since it arrived: then a part may have been written before.
            """
    )

    @Argument(
        help: ArgumentHelp("Number or name of an item that is one file.", valueName: "item"), completion: .inboxItems)
    var item: String

    func run() async throws {
        let isTerminal = isatty(STDOUT_FILENO) != 0
        try await OutputOptions().doing { waft throws(WaftError) in
            try waft.inbox.write(item, to: STDOUT_FILENO, isTerminal: isTerminal)
        }
    }
}

/// `waft inbox verify`: compares the contents of the Inbox with the received items.
struct InboxVerifyCommand: AsyncParsableCommand, InboxItemVerb {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Compare the items in the Inbox with the received ones.",
        discussion: """
            Example: waft inbox verify, or: waft inbox verify 12 report.pdf

            Every received item is read from the disk, except items that were taken or removed, or that left through a \
            handler. Exit code 17 if an item changed, is missing or cannot be read; 66 for a named item that is not expected \
            in the Inbox.
            """
    )

    @Argument(
        help: ArgumentHelp(
            "Numbers of items, as waft inbox shows them, or their names; all by default.",
            valueName: "item"), completion: .inboxItems)
    var arrivals: [String] = []

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let drawing = Throttle()
        var progress: ProgressLine?
        let verified = try await output.doing { waft throws(WaftError) in
            try waft.inbox.verify(
                arrivals,
                progressed: { read, total in
                    guard Console.shared.isInteractive, drawing.isDue() else { return }
                    var line = progress ?? ProgressLine(total: total)
                    Console.shared.status(line.text(bytes: read, at: .now, width: Console.shared.width))
                    progress = line
                },
                found: show)
        }
        Console.shared.endStatus()
        output.show(verified)
        for remark in verified.remarks { output.note(remark) }
        if verified.exit != .done { throw verified.exit.code }
    }

    private func show(_ finding: Arrivals.Finding) {
        switch finding {
        case .changed(let line): output.show(line)
        case .missing(let line): output.show(line)
        case .unreadable(let line): output.show(line)
        case .absent(let line): output.show(line)
        }
    }
}

/// `waft inbox adopt`.
struct InboxAdoptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "adopt",
        abstract: "Use the folder at the Inbox's path as the Inbox.",
        discussion: """
            Example: waft inbox adopt

            Waft stores nothing in a folder that it does not recognize as the Inbox: perhaps the disk with the Inbox is not \
            mounted. Mount it, and Waft receives again. Run this command only to start a new Inbox, on another disk or in a \
            new folder.
            """
    )

    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await output.show { waft throws(WaftError) in try await waft.inbox.adopt() }
    }
}

/// `waft inbox protect`.
struct InboxProtectCommand: AsyncParsableCommand, InboxItemVerb {
    static let configuration = CommandConfiguration(
        commandName: "protect",
        abstract: "Seal an item that is in the Inbox, or seal it in another class.",
        discussion: """
            Example: waft inbox protect 12 unlessOpen

            The running receiver writes the item sealed, reads it back, and puts it in the place of the old one. Of a folder each \
            file is sealed by itself, and the folder changes as a whole. Exit code 15 if a handler still reads the item after five \
            seconds, 17 if it was changed since it arrived, 18 while locked. The disk may still hold the bytes that were open before.
            """
    )

    @Argument(help: ArgumentHelp("Number or name of an item.", valueName: "item"), completion: .inboxItems)
    var item: String

    @Argument(
        help: ArgumentHelp("untilFirstUnlock, unlessOpen or complete.", valueName: "class"),
        completion: .list(ProtectionClass.allCases.filter(\.isSealed).map(\.rawValue)))
    var protection: String

    @OptionGroup var readers: ReaderOptions

    @OptionGroup var output: OutputOptions

    private var sealed: ProtectionClass? { ProtectionClass(rawValue: protection).flatMap { $0.isSealed ? $0 : nil } }

    func validate() throws {
        guard sealed != nil else {
            throw ValidationError(
                "The class is untilFirstUnlock, unlessOpen or complete. To open an item: waft inbox unprotect")
        }
    }

    func run() async throws {
        guard let sealed else { return }
        try DataProtection.checkIsSetUp()
        try await output.show { waft throws(WaftError) in
            try await waft.inbox.reseal(item, as: sealed, now: readers.now)
        }
    }
}

/// `waft inbox unprotect`.
struct InboxUnprotectCommand: AsyncParsableCommand, InboxItemVerb {
    static let configuration = CommandConfiguration(
        commandName: "unprotect",
        abstract: "Open a sealed item in the Inbox for good.",
        discussion: """
            Example: waft inbox unprotect 12

            The running receiver writes the item open, reads it back, and puts it in the place of the sealed one. Exit code 15 if \
            a handler still reads the item after five seconds, 17 if it was changed since it arrived, 18 while locked.
            """
    )

    @Argument(help: ArgumentHelp("Number or name of an item.", valueName: "item"), completion: .inboxItems)
    var item: String

    @OptionGroup var readers: ReaderOptions

    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await output.show { waft throws(WaftError) in
            try await waft.inbox.reseal(item, as: .none, now: readers.now)
        }
    }
}

/// `waft inbox preview`: shows the beginning of an item.
struct InboxPreviewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "preview",
        abstract: "Show a part of an item in the terminal, by what its content is.",
        discussion: """
            Example: waft inbox preview 12

            As waft preview FILE. An item that is not what it claims to be is shown as what it is, with a warning. Exit code 13 \
            if there is nothing to show, 18 for a protected item while it is locked.
            """
    )

    @Argument(
        help: ArgumentHelp("Number of the item, as waft inbox shows it, or its name.", valueName: "item"),
        completion: .inboxItems)
    var arrival: String

    @OptionGroup var options: PreviewOptions

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let documents = try CommandContext.forgiving.documents
        try options.check(output)
        let document = try await documents.item(
            ChosenItem(word: arrival), for: options.window ? .applications : .thisProcess)
        defer { if !options.window { documents.end(document) } }
        try await options.show(document, documents, output)
    }
}

/// `waft inbox options`: lists what can be done with an item.
struct InboxOptionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "options",
        abstract: "List what can be done with an item here, and on a terminal do one of it.",
        discussion: """
            Example: waft inbox options 12

            As waft options FILE, and: move it out of the Inbox, delete it.
            """
    )

    @Argument(
        help: ArgumentHelp("Number of the item, as waft inbox shows it, or its name.", valueName: "item"),
        completion: .inboxItems)
    var arrival: String

    @OptionGroup var options: ActionOptions

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let documents = try CommandContext.forgiving.documents
        let document = try await documents.item(ChosenItem(word: arrival))
        try await DocumentMenu(documents: documents, output: output).run(document, check: options.check)
    }
}

/// `waft inbox open`: show an item on the desktop.
struct InboxOpenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Show an item of the Inbox on the desktop, by xdg-open.",
        discussion: """
            Example: waft inbox open 12

            An item whose content does not match its type is not opened, and none that the desktop would run: a program, a \
            script, a launcher. --anyway opens them. To choose the program: waft inbox open-in 12. To give an item to its \
            handler: waft inbox retry 12.
            """
    )

    @Argument(
        help: ArgumentHelp(
            "Number of the item, as waft inbox shows it, or its name.", valueName: "item"),
        completion: .inboxItems)
    var arrival: String

    @Flag(name: .long, help: "Show it in its folder, in the file manager, and open nothing.")
    var folder = false

    @OptionGroup var options: OpeningOptions

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if folder, options.anyway { throw ValidationError("--folder opens nothing: leave out --anyway.") }
    }

    func run() async throws {
        let documents = try CommandContext.forgiving.documents
        let document = try await documents.item(ChosenItem(word: arrival), for: folder ? nil : .applications)
        let line = try await CommandError.catching { () throws(WaftError) in
            folder
                ? try await documents.showInFolder(document)
                : try await documents.openOnDesktop(document, anyway: options.anyway)
        }
        output.show(line)
    }
}
