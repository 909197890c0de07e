import ArgumentParser
import Foundation
import Lines
import Operations
import Sharing
import Synchronization

extension SendOptions.Wait: ExpressibleByArgument {}

/// `waft send`: the main job.
struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Send files, folders, texts and URLs to nearby machines.",
        discussion: """
            Examples:
              waft send photo.jpg --to kitchen
              waft send notes/ kitchen:
              waft send plan.pdf --code     # there: waft receive 7-pumpkin-sausage
              tar c work | waft send - --name work.tar --to 192.168.1.7
              waft send --url https://example.com --to kitchen --to study
              waft send report.pdf --to kitchen --queue
              waft send project/ --to nas --exclude .git --exclude '*.o' --dry-run

            Exit code 0 means that every item was written, flushed to disk and checksummed on the other machine. Name a peer \
            by its name, the beginning of its id, or host[:port]. Without --to, you choose from a list on the terminal.

            With --queue, exit code 0 means that the job is saved on this disk: the daemon sends it when the peer is \
            reachable. Until then the files must not change, unless --snapshot copies them. See waft outbox.
            """
    )

    @Argument(
        help: ArgumentHelp(
            "Files and folders; NAME: is short for --to NAME; - is standard input, piped-DATE-TIME without --name.",
            valueName: "file"), completion: .sendItems)
    var items: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Peer to send to: name, beginning of its id, or host[:port] of a Waft peer. Repeatable.", valueName: "peer"),
        completion: .peers)
    var to: [String] = []

    @OptionGroup var code: CodeOptions

    @Option(
        name: .long,
        help: ArgumentHelp(
            "With --code: send to so many people, who all type the same code; it has three words then.",
            valueName: "number"))
    var people: Int?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Send to the machine that shows this code by waft receive --code; - for one from standard input.",
            valueName: "code"), completion: .spokenCode)
    var toCode: String?

    @Option(
        name: .long,
        help: ArgumentHelp("A text to send; - for one from standard input. Repeatable.", valueName: "text"))
    var text: [String] = []

    @Option(name: .long, help: ArgumentHelp("A URL to send. Repeatable.", valueName: "url"))
    var url: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A program that makes an item when a peer has accepted it; see Item sources in the manual. Repeatable.",
            valueName: "program"), completion: .file())
    var source: [String] = []

    @Option(name: .long, help: ArgumentHelp("Name of the item, if there is only one.", valueName: "name"))
    var name: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Uniform type identifier of the item, if there is only one.", valueName: "type"),
        completion: .types
    )
    var type: String?

    @Option(name: .long, help: ArgumentHelp("The subject of all that is sent, in a line.", valueName: "line"))
    var subject: String?

    @OptionGroup var annotations: AnnotationOptions

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A PNG or JPEG image that contacts see with the offer: the preview of the first item.", valueName: "image"),
        completion: .file())
    var thumbnail: String?

    @Option(name: .long, help: ArgumentHelp("A note for the other side's handler.", valueName: "note"))
    var note: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Wait until the items are stored, or until a handler has opened them.", valueName: "state"))
    var wait: SendOptions.Wait = .stored

    @Flag(name: .long, help: "Send the items that the other side accepts, even if it refuses others.")
    var partial = false

    @Flag(
        name: .long,
        help: "Send to each peer directly. Otherwise three and more pass it on, and each learns of its neighbours.")
    var noRelay = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Leave out files and folders of this name, or of this path in a folder; with the wildcards * and ?. Repeatable.",
            valueName: "pattern"))
    var exclude: [String] = []

    @Flag(name: .long, help: "Leave out items that cannot be read or sent, instead of sending nothing.")
    var skipUnreadable = false

    @Flag(name: .long, help: "Show what would be sent, and send nothing.")
    var dryRun = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Seconds, or a time such as 2m, to find the peer, wait for an answer, retry a busy peer, or go without progress.",
            valueName: "seconds"), transform: Seconds.read)
    var timeout: Seconds?

    @OptionGroup var delivery: DeliveryOptions

    @OptionGroup var queue: QueueOptions

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Show the progress as a bar on a terminal, as a line at each 10 %, or not at all.",
            valueName: "bar|lines|none"))
    var progress: ProgressStyle?

    @Flag(name: .long, help: "Print one JSON document a line for each event.")
    var json = false

    @Flag(name: .long, help: "Print nothing but errors.")
    var quiet = false

    mutating func run() async throws {
        let context = try CommandContext()
        var options = try self.options()
        if timeout == nil { options.finding = context.waft.finding }
        text = try SentTexts.read(text, items: items)
        var (paths, names) = (items, to)
        for item in items where item.hasSuffix(":") && item.count > 1 && !FileManager.default.fileExists(atPath: item) {
            paths.removeAll { $0 == item }
            names.append(String(item.dropLast()))
        }
        // A peer that is named twice gets the items once.
        var named: Set<String> = []
        names.removeAll { !named.insert($0).inserted }
        names = try CommandError.of { () throws(WaftError) in try context.waft.contacts.recipients(names) }
        if queue.queue, !exclude.isEmpty || skipUnreadable {
            throw CommandError(
                .usage, "--exclude and --skip-unreadable do not go with --queue",
                hint: "the daemon reads the folder when it sends it; queue the parts of the folder instead")
        }
        if progress != nil, json || quiet {
            throw CommandError(
                .usage, "--progress does not go with \(json ? "--json, which has events of it" : "--quiet")")
        }
        try delivery.check(isQueued: queue.queue, wait: wait)
        let typed = try typedCode(names)
        if queue.queue, thumbnail != nil {
            throw CommandError(.usage, "--thumbnail does not go with --queue: the daemon makes the previews")
        }
        let omissions = OmissionRendering(json: json)
        paths = SendSources.once(paths, leftOut: omissions.show)
        let sources: [any ItemSource]
        do throws(CommandError) {
            sources = try made(paths, peers: max(names.count, people ?? 1), leftOut: omissions.show)
        } catch {
            throw await MistakenPeers(context: context, searches: names.isEmpty).explained(error, among: paths)
        }
        omissions.end()
        let previews = try CommandError.of { () throws(WaftError) in
            try context.waft.previews(of: sources, thumbnail: thumbnail)
        }
        if subject == nil { options.annotation[Offer.subjectKey] = SendSources.subject(of: sources) }
        try Self.checkSize(of: options.annotation)
        if dryRun { return DryRun.show(sources, json: json) }
        options.pin = try await delivery.typedPIN()
        if queue.queue, !names.isEmpty {
            return try await leaveToDaemon(sources, paths: paths, to: names, options, context)
        }
        if typed != nil || code.code {
            let rendering = SendRendering(
                json: json, quiet: quiet, progress: progress ?? .bar, peers: people ?? 1, sources: sources)
            let cancellation = Cancellation()
            return try await send(by: typed, options, context, cancellation, rendering) {
                peer, options throws(WaftError) in
                try await context.waft.send(
                    sources, to: [peer], options, previews: previews, cancellation: cancellation, rendering.show)
            }
        }
        // The sources have the words; tens of thousands of them are not listed twice.
        if !queue.queue { (items, paths) = ([], []) }
        let peers = try CommandError.of { () throws(WaftError) in try SharePeers(context.waft) }
        if !json, !quiet, names.isEmpty || names.contains(where: { Peers.isAddress($0) == false }) {
            NetworkNote.say(context.waft)
        }
        let cancellation = Cancellation()
        if names.isEmpty { names = [try await PeerPicker.pick(peers)] }
        if queue.queue { return try await leaveToDaemon(sources, paths: paths, to: names, options, context) }
        // A person need not wait for those that do not answer.
        let canBegin = names.count > 2 && !json && !quiet && (progress ?? .bar) == .bar && LineReader.hasTerminal
        let rendering = SendRendering(
            json: json, quiet: quiet, progress: progress ?? .bar, peers: names.count, sources: sources,
            canBegin: canBegin)
        let exit = try await Interruption.watching(cancellation) { [names, options] in
            try await CommandError.catching { () throws(WaftError) in
                try await context.waft.send(
                    sources, to: names, by: peers, options, previews: previews, cancellation: cancellation,
                    beginning: canBegin ? LineReader.enters : nil, rendering.show)
            }
        }
        rendering.done(exit)
        if exit != .done { throw exit.code }
    }

    /// - Returns: nil if no code is typed at this side.
    private func typedCode(_ names: [String]) throws(CommandError) -> Codes.Typed? {
        try code.check(isTyped: toCode != nil)
        if !code.code, people != nil { throw CommandError(.usage, "--people goes with --code") }
        guard code.code || toCode != nil else { return nil }
        guard names.isEmpty else { throw CommandError(.usage, "a code finds the machine: leave out --to") }
        guard !queue.queue else {
            throw CommandError(.usage, "a code is good for minutes, and does not go with --queue")
        }
        let text = toCode == "-" ? TypedCode.ofInput() : toCode
        return try CommandError.of { () throws(WaftError) in try text.map(Codes.typed) }
    }

    /// Sends by a code that is shown or typed here.
    private func send(
        by typed: Codes.Typed?, _ options: SendOptions, _ context: CommandContext, _ cancellation: Cancellation,
        _ rendering: SendRendering, _ send: @escaping Codes.Sending
    ) async throws {
        let (waft, search, showing) = (context.waft, try code.search(), try code.showing(people: people ?? 1))
        let codes = CodeRendering(json: json, isSending: true)
        if !json, !quiet { NetworkNote.say(waft) }
        let exit = try await Interruption.watching(cancellation) {
            try await CommandError.catching { () throws(WaftError) in
                if let typed {
                    if !quiet { codes.looking(for: typed) }
                    return try await waft.codes.send(by: typed, search, options, codes.show, send: send)
                }
                return try await waft.codes.send(showing, options, codes.show, send: send)
            }
        }
        rendering.done(exit)
        if exit != .done { throw exit.code }
    }

    private func made(
        _ paths: [String], peers: Int, leftOut: @escaping (SourceError) -> Void
    ) throws(CommandError) -> [any ItemSource] {
        var sources = SendSources(paths: paths, texts: text, urls: url, programs: source, peers: peers)
        sources.activity = queue.queue ? SendSources.queue : SendSources.airdrop
        (sources.name, sources.type) = (name, type)
        (sources.excluded, sources.skipsUnsendable) = (exclude, skipUnreadable)
        (sources.canLeaveOut, sources.canName) = (!queue.queue, true)
        (sources.leftOut, sources.isRepaired) = (leftOut, CommandWords.isRepaired)
        return try CommandError.of { () throws(WaftError) in try sources.make() }
    }

    /// `--queue`.
    private func leaveToDaemon(
        _ sources: [any ItemSource], paths: [String], to names: [String], _ options: SendOptions,
        _ context: CommandContext
    ) async throws {
        let cancellation = Cancellation()
        let items = QueuedItems(
            sources, paths: paths, texts: text, urls: url, isSnapshot: queue.snapshot, days: queue.expires)
        let jobs = try await Interruption.watching(cancellation) {
            try await CommandError.catching { () throws(WaftError) in
                try await context.waft.outbox.add(items, to: names, options, cancellation: cancellation)
            }
        }
        let output = OutputOptions(json: json)
        if json || !quiet { for job in jobs { output.show(job) } }
        if jobs.first?.daemon == false, !json, !quiet {
            Console.shared.note("waft: \(QueuedLine.later)")
        }
        if json { output.show(DoneLine(exit: .done), as: []) }
    }

    /// Keys that other options set.
    private static let ownKeys: Set = [SourceApplication.key, Offer.subjectKey, "note"]

    /// The line of `--subject`.
    static func line(_ subject: String) throws(CommandError) -> String {
        guard let line = Offer.subject(subject) else {
            throw CommandError(.usage, "--subject is one line of at most \(Offer.subjectBytes) bytes")
        }
        return line
    }

    /// The receiver refuses more.
    private static func checkSize(of annotation: [String: String]) throws(CommandError) {
        guard Annotation.bytes(of: SourceApplication.removed(from: annotation)) <= Limits.annotationBytes else {
            throw CommandError(
                .usage,
                "the annotations, the note and the subject are longer than \(Limits.annotationBytes) bytes in all")
        }
    }

    /// The name of the verb that sends, as an application.
    @TaskLocal static var application = SourceApplication.send

    /// - Parameter verb: as an application.
    /// - Returns: the handler that has started this command; without one the verb.
    static func sourceApplication(_ verb: String) -> String {
        SourceApplication.valid(ProcessInfo.processInfo.environment[SourceApplication.variable]) ?? verb
    }

    func options() throws(CommandError) -> SendOptions {
        var options = SendOptions()
        options.annotation[SourceApplication.key] = Self.sourceApplication(Self.application)
        options.wait = wait
        options.takesPart = partial
        options.relays = !noRelay
        options.plain = delivery.plain
        if let note {
            guard note.utf8.count <= Limits.annotationBytes - 64 else {
                throw CommandError(.usage, "--note is longer than \(Limits.annotationBytes - 64) bytes")
            }
            options.annotation["note"] = note
        }
        if let subject { options.annotation[Offer.subjectKey] = try Self.line(subject) }
        for (key, value) in try annotations.read().values {
            guard options.annotation[key] == nil, !Self.ownKeys.contains(key) else {
                throw CommandError(
                    .usage, "--annotation \(TerminalText.escaped(key)) is Waft's own: there are --subject and --note")
            }
            options.annotation[key] = value
        }
        try Self.checkSize(of: options.annotation)
        if let duration = timeout?.duration {
            (options.finding, options.silence, options.stall, options.retryFor) = (
                duration, duration, duration, duration
            )
            options.answer = min(duration, Limits.offerAnswer)
        }
        return options
    }
}

/// How `waft send` leaves things to the daemon.
struct QueueOptions: ParsableArguments {
    @Flag(name: .long, help: "Let the daemon send it when the peer is reachable, even after a reboot.")
    var queue = false

    @Flag(name: .long, help: "With --queue: copy the files now, and send the copies.")
    var snapshot = false

    @Option(name: .long, help: ArgumentHelp("With --queue: give up after this many days.", valueName: "days"))
    var expires: Int?

    func validate() throws {
        if !queue, snapshot || expires != nil { throw ValidationError("--snapshot and --expires go with --queue") }
        if let expires, !(1...QueuedItems.longestDays).contains(expires) {
            throw ValidationError("--expires is 1 to \(QueuedItems.longestDays) days")
        }
    }
}

/// Shows the items of `waft send --dry-run`, which sends nothing.
enum DryRun {
    static func show(_ sources: [any ItemSource], json: Bool) {
        let output = OutputOptions(json: json)
        for (number, source) in sources.enumerated() {
            let item = source.offered
            if json {
                output.show(PlannedLine(number, item), as: [])
                continue
            }
            var facts = [item.size.map(ByteCount.text) ?? "size not known"]
            if item.kind == .tree, let entries = item.entries { facts.append(OfferText.entries(entries)) }
            facts.append(TerminalText.escaped(item.typeName, limit: 80))
            Console.shared.result("\(TerminalText.escaped(item.name.text))  \(facts.joined(separator: ", "))")
        }
        if json { output.show(DoneLine(exit: .done), as: []) }
    }
}

/// Lets a person choose a peer; without a terminal, reports the peers in view.
enum PeerPicker {
    /// Duration of the search without a terminal.
    private static let looking: Duration = .seconds(3)
    private static let prompt = SharePrompt(
        question: "Send to (number, name or address; q to give up): ", keyQuestion: "Send to: ",
        advice:
            "No machine found yet. On the other machine run waft receive or, if waftd runs there, waft visible everyone. "
            + "You can also type an address, such as 192.168.1.7.")

    /// - Returns: the whole id of the chosen peer, or an address.
    /// - Throws: `CommandError`, 64 if there is no terminal, 130 if no peer is chosen.
    static func pick(_ peers: SharePeers) async throws(CommandError) -> String {
        guard LineReader.hasTerminal else {
            let found = await peers.found(within: looking) { reason in
                Console.shared.note("waft: \(TerminalText.escaped(reason, limit: 400))")
            }
            let view = PeersInView(found.map(\.person))
            throw CommandError(.usage, "--to is missing, and there is no terminal to ask at; \(view.text)")
        }
        let sheet = ShareSheet(activities: [], takesPeers: true)
        switch await prompt.choose(from: sheet, ["Looking for machines \(Glyph.ellipsis)"], peers) {
        case .row(.peer(let peer)): return peer
        case .row, .givenUp: throw CommandError(.interrupted, "no machine was chosen; nothing was sent")
        case .interrupted: throw CommandError(.interrupted, "cancelled; nothing was sent")
        }
    }
}

/// Words of `waft send` that are no files, and are the names of peers: the failure says how a peer is named.
struct MistakenPeers {
    /// A person waits for the message.
    private static let looking: Duration = .seconds(1)

    let context: CommandContext
    /// Whether machines in view are looked for: if no peer is named otherwise.
    let searches: Bool

    /// - Parameters:
    ///   - failure: of the items.
    ///   - words: all of them.
    /// - Returns: the failure, with advice if one of the words names a contact, a remembered peer, or a machine in view.
    func explained(_ failure: CommandError, among words: [String]) async -> CommandError {
        guard failure.exit == .inputMissing else { return failure }
        let missing = words.prefix(Self.maximumWords).filter {
            $0 != "-" && !$0.contains("/") && !FileManager.default.fileExists(atPath: $0)
        }
        guard !missing.isEmpty, let (word, standing) = await named(missing) else { return failure }
        let (shown, typed) = (TerminalText.escaped(word, limit: 64), TerminalText.shellWord(word, limit: 64))
        return CommandError(
            failure.exit, "\(shown) is no file here, but \(standing): write \(typed): or --to \(typed)")
    }

    /// Words that are looked at: a mistyped name stands beside few files.
    private static let maximumWords = 8

    private func named(_ words: [String]) async -> (word: String, standing: String)? {
        let people = context.people
        for word in words where people.isContact(named: word) {
            return (word, "a contact")
        }
        for word in words where context.waft.peers.isRemembered(word) {
            return (word, "a machine that is remembered")
        }
        guard searches, let peers = try? SharePeers(context.waft) else { return nil }
        for await case .found(let peer) in peers.events(for: Self.looking) {
            guard peer.person.introduction.claims == nil else { continue }
            if let word = words.first(where: { peer.person.isNamed($0) }) {
                return (word, "a machine in view")
            }
        }
        return nil
    }
}

/// Shows what `waft send --skip-unreadable` leaves out.
final class OmissionRendering: Sendable {
    /// Lines for people; the rest is counted. Programs get all.
    private static let shown = 20

    private let json: Bool
    private let count = Mutex(0)

    init(json: Bool) {
        self.json = json
    }

    func show(_ fault: SourceError) {
        let number = count.withLock { count in
            count += 1
            return count
        }
        if json {
            OutputOptions(json: true).show(SkippedLine(reason: fault.message), as: [])
        } else if number <= Self.shown {
            Console.shared.note("left out: \(TerminalText.escaped(fault.message, limit: 1_000))")
        }
    }

    /// All have been shown.
    func end() {
        let rest = count.withLock { $0 } - Self.shown
        if rest > 0, !json { Console.shared.note("left out: \(rest) more") }
    }
}
