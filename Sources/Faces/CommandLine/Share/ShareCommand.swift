import ArgumentParser
import Lines
import Operations
import Sharing

/// `waft share`: the sheet of peers and activities.
struct ShareCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "share",
        abstract: "Share files, texts and URLs: choose a machine, or something else to do with them.",
        discussion: """
            Examples:
              waft share photo.jpg
              waft share photo.jpg --exclude-activity org.waft.activity.print
              waft share --text hello --activity org.waft.activity.copy

            Lists the machines nearby and the activities that can take all items, and asks on the terminal. Without a \
            terminal, give --activity or --to. The exit code is that of the activity; 130 if none is chosen.
            """
    )

    @Argument(
        help: ArgumentHelp("Files and folders; - is standard input.", valueName: "file"), completion: .file())
    var items: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp("A text to share; - for one from standard input. Repeatable.", valueName: "text"))
    var text: [String] = []

    @Option(name: .long, help: ArgumentHelp("A URL to share. Repeatable.", valueName: "url"))
    var url: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A program that makes an item when it is needed; see Item sources in the manual. Repeatable.",
            valueName: "program"), completion: .file())
    var source: [String] = []

    @Option(name: .long, help: ArgumentHelp("The subject of all that is shared, in a line.", valueName: "line"))
    var subject: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Leave out the activities of this type. Repeatable.", valueName: "type"))
    var excludeActivity: [String] = []

    @Option(
        name: .long, help: ArgumentHelp("Do this without asking; --list shows the types.", valueName: "type"))
    var activity: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Send to this peer without asking, as waft send --to.", valueName: "peer"),
        completion: .peers)
    var to: String?

    @OptionGroup var delivery: DeliveryOptions

    @Flag(name: .long, help: "Print the machines and activities, and do nothing. Exit code 13 if there are none.")
    var list = false

    @Flag(name: .long, help: "With --list: print also the activities that are not possible, and why.")
    var all = false

    @Flag(
        name: .long,
        help: "Ask in a window, by zenity, kdialog or a new terminal; without files, choose them there too.")
    var window = false

    @Flag(name: .long, help: "Ask in a window of the browser: waft desk, with the files and folders that are given.")
    var desk = false

    @Flag(name: .long, help: "Print one JSON document a line for each event.")
    var json = false

    func validate() throws {
        if all, !list { throw ValidationError("--all goes with --list.") }
        if list, activity != nil || to != nil {
            throw ValidationError("--list does nothing else: leave out --activity and --to.")
        }
        if window, json || list || activity != nil || to != nil {
            throw ValidationError("--window asks: leave out --list, --activity, --to and --json.")
        }
        if desk, window || json || list || activity != nil || to != nil || !excludeActivity.isEmpty {
            throw ValidationError("--desk asks: leave out all but the files.")
        }
        if desk, !(text + url + source).isEmpty || subject != nil {
            throw ValidationError("--desk takes files and folders. Texts and links are written in its window.")
        }
        if let activity, to != nil, ![Activity.airdrop.type, Activity.queue.type].contains(activity) {
            throw ValidationError("--to is for \(Activity.airdrop.type) and \(Activity.queue.type).")
        }
        let isSent = activity == nil || activity == Activity.airdrop.type
        if delivery.pin != nil || delivery.plain, list || window || !isSent {
            throw ValidationError("--pin and --plain are for \(Activity.airdrop.type).")
        }
    }

    mutating func run() async throws {
        if desk { return try await DeskCommand.open(items) }
        var output = OutputOptions()
        output.json = json
        var completion = CompletedLine()
        do {
            text = try SentTexts.read(text, items: items)
            let context = try CommandContext()
            let told = WindowLines()
            let activities = try await CommandError.catching { () throws(WaftError) in
                try context.waft.activities(window ? told.face : .here, excluding: excludeActivity)
            }
            for type in activities.unknownExclusions {
                Console.shared.note(
                    "warning: excludedActivities: there is no activity \(TerminalText.escaped(type)) at the moment")
            }
            var words = SharedWords(
                paths: items, texts: text, urls: url, programs: source, subject: try subject.map(SendCommand.line))
            if window {
                do {
                    let asking = ShareWindow(activities: activities, context: context, told: told)
                    let exit = try await asking.run(words)
                    if exit != .done { throw exit.code }
                    return
                } catch let error as WaftError {
                    throw CommandError(error)
                }
            }
            let shared = try words.items()
            if list { return try await show(shared, activities, context, output) }
            try await share(shared, &words, activities, context, output, &completion)
        } catch {
            guard json, !list, let exit = Self.report(error) else { throw error }
            completion.exit = exit
        }
        output.show(completion, as: [])
        if completion.exit != .done { throw completion.exit.code }
    }

    /// Prints an error for programs, if that was not done yet.
    /// - Returns: its exit code; nil if it has none.
    private static func report(_ error: any Error) -> WaftExit? {
        if let failure = error as? CommandError {
            OutputOptions(json: true).show(failure.line(), as: [])
            return failure.exit
        }
        return (error as? ExitCode).flatMap { WaftExit(rawValue: $0.rawValue) }
    }

    private func share(
        _ items: ShareItems, _ words: inout SharedWords, _ activities: Activities, _ context: CommandContext,
        _ output: OutputOptions, _ completion: inout CompletedLine
    ) async throws {
        var (type, peer) = (activity ?? (to == nil ? nil : Activity.airdrop.type), to)
        if type == nil {
            switch try await chosen(items, activities, context) {
            case .peer(let chosen): (type, peer) = (Activity.airdrop.type, chosen)
            case .activity(let chosen): type = chosen
            case .givenUp, .unclear, nil:
                throw CommandError(.interrupted, "nothing was chosen; nothing was shared")
            }
        }
        let chosen = type ?? ""
        let activity = try await CommandError.catching { () throws(WaftError) in try activities.activity(chosen) }
        completion.activity = activity.type
        // Programs are asked again for the activity, and may offer another type.
        let items = words.programs.isEmpty ? items : try words.items(activity: activity.type)
        try await CommandError.catching { () throws(WaftError) in try await activities.check(activity, items) }
        let documents = context.documents
        switch activity.kind {
        case .send, .queue: try await send(words, to: peer, isQueued: activity.kind == .queue)
        case .preview, .openIn:
            for path in items.items.compactMap(\.path) {
                let document = try await CommandError.catching { () throws(WaftError) in try documents.file(path) }
                if activity.kind == .preview {
                    try await documents.show(document, output)
                } else {
                    try await OpenInMenu(documents: documents, output: output).run(document, app: nil)
                }
            }
        case .mail, .copy, .print, .saveImage, .handler:
            let end = try await perform(activity, items, activities)
            if !json { for said in end.said { Console.shared.result(TerminalText.escaped(said, limit: 1_000)) } }
            completion.returnedItems = end.returnedItems
        }
    }

    private func perform(
        _ activity: Activity, _ items: ShareItems, _ activities: Activities
    ) async throws -> Activities.End {
        do {
            // Programs of the system end with this one.
            guard activity.kind == .handler else { return try await activities.perform(activity, items) }
            return try await Interruption.watching(Cancellation(), goodbye: .zero) {
                try await activities.perform(activity, items)
            }
        } catch let error as WaftError {
            throw CommandError(error)
        }
    }

    /// Sends the items, now or when the peer is reachable: as `waft send`.
    private func send(_ words: SharedWords, to peer: String?, isQueued: Bool) async throws {
        guard var send = try WaftCommand.parseAsRoot([SendCommand._commandName]) as? SendCommand else { return }
        (send.items, send.text, send.url, send.source) = (words.paths, words.texts, words.urls, words.programs)
        (send.subject, send.json, send.queue.queue) = (words.subject, json, isQueued)
        send.to = peer.map { [$0] } ?? []
        send.delivery = delivery
        try await SendCommand.$application.withValue(SourceApplication.share) { [send] in
            var send = send
            try await send.run()
        }
    }

    // MARK: Choosing

    /// Looking for peers without a person who waits at a list.
    private static let looking: Duration = .seconds(3)

    /// The peers and activities for the items.
    private func lines(
        _ items: ShareItems, _ activities: Activities, _ context: CommandContext, all: Bool = false
    ) async throws(CommandError) -> [ActivityLine] {
        var lines: [ActivityLine] = []
        if activities.hasPeers {
            let peers = try await CommandError.catching { () throws(WaftError) in try SharePeers(context.waft) }
            let found = await peers.found(within: Self.looking) { reason in
                Console.shared.note("waft: \(TerminalText.escaped(reason, limit: 400))")
            }
            lines = found.map { peer in
                ActivityLine(
                    type: Activity.airdrop.type, title: peer.person.title, category: .share, peer: peer.person.fields)
            }
        }
        return lines + (await activities.lines(for: items, all: all))
    }

    /// - Throws: `CommandError` `ineligible` if nothing is possible.
    private func show(
        _ items: ShareItems, _ activities: Activities, _ context: CommandContext, _ output: OutputOptions
    ) async throws {
        let lines = try await lines(items, activities, context, all: all)
        for line in lines { output.show(line) }
        guard lines.contains(where: { $0.reason == nil }) else {
            throw CommandError(.ineligible, "\(TerminalText.escaped(items.title)): nothing can be done with it here")
        }
    }

    private func chosen(
        _ items: ShareItems, _ activities: Activities, _ context: CommandContext
    ) async throws -> ShareSheet.Answer? {
        guard LineReader.hasTerminal else {
            throw CommandError(
                .usage, "--activity or --to is missing, and there is no terminal to ask at",
                others: try await lines(items, activities, context).flatMap(\.words))
        }
        let rows = await activities.lines(for: items)
        let sheet = ShareSheet(activities: rows.map { ($0.type, $0.title) }, takesPeers: activities.hasPeers)
        let peers = try await CommandError.catching { () throws(WaftError) in
            activities.hasPeers ? try SharePeers(context.waft) : nil
        }
        let choice = await SharePrompt(question: "Share with? ", keyQuestion: "Share with? ").choose(
            from: sheet, items.words, peers)
        guard case .row(let answer) = choice else { return nil }
        return answer
    }

}

/// The words of the command that name the shared items.
struct SharedWords {
    /// Files and folders.
    var paths: [String]
    var texts: [String] = []
    var urls: [String] = []
    var programs: [String] = []
    /// One line.
    var subject: String?

    var isEmpty: Bool { (paths + texts + urls + programs).isEmpty }

    /// The options of the command for all but the paths.
    var options: [String] {
        texts.map { "--text=\($0)" } + urls.map { "--url=\($0)" } + programs.map { "--source=\($0)" }
            + (subject.map { ["--subject=\($0)"] } ?? [])
    }

    /// Looks at every file, and asks each program for its placeholder. No contents are read.
    ///
    /// - Parameter activity: the type of the activity for which programs are asked; empty before one is chosen.
    /// - Throws: `CommandError`: 64 for wrong words, 66 for inputs that cannot be read.
    mutating func items(activity: String = "") throws(CommandError) -> ShareItems {
        guard !isEmpty else {
            throw CommandError(.usage, "nothing to share", hint: "for example: waft share photo.jpg")
        }
        var leftOut: [SourceError] = []
        paths = SendSources.once(paths) { leftOut.append($0) }
        var words = SendSources(paths: paths, texts: texts, urls: urls, programs: programs)
        (words.activity, words.canLeaveOut, words.leftOut) = (activity, false, { leftOut.append($0) })
        words.isRepaired = CommandWords.isRepaired
        let sources = try CommandError.of { () throws(WaftError) in try words.make() }
        // If no item is left, the failure says so.
        for fault in leftOut { Console.shared.note("waft: \(TerminalText.escaped(fault.message))") }
        return ShareItems(sources, paths: paths, subject: subject)
    }
}

extension ShareItems {
    private static let shownItems = 5

    /// The first few items with kind and size.
    var words: [String] {
        let shown = items.prefix(Self.shownItems).map { item -> String in
            let size = item.offered.size.map { ", " + ByteCount.text($0) } ?? ""
            let name = TerminalText.escaped(item.offered.name.text, limit: 400)
            return "\(name)  \(TerminalText.escaped(item.offered.typeName, limit: 80))\(size)"
        }
        return shown + (items.count > shown.count ? ["and \(items.count - shown.count) more"] : [])
    }
}

extension ActivityLine: WordedLine {
    var words: [String] {
        let reason = reason.map { "  not now: " + TerminalText.escaped($0) } ?? ""
        let type = TerminalText.escaped(type)
        let padding = String(repeating: " ", count: max(2, 28 - type.count))
        return ["\(type)\(padding)\(TerminalText.escaped(title, limit: 200))\(reason)"]
    }
}
