import Lines
import Operations
import Sharing
import Synchronization

/// The sheet in a window: asks there, does the chosen activity, and shows its end.
struct ShareWindow {
    let activities: Activities
    let context: CommandContext
    /// Has the face of the activities too.
    let told: WindowLines

    /// An open window shows the peers of this time first; later ones come below the activities.
    private static let firstLook: Duration = .seconds(1)
    private static let looking: Duration = .seconds(3)
    private static let shownLines = 20
    /// As after a Ctrl-C: how long a cancelled sending can take leave of its peer.
    private static let goodbye: Duration = .milliseconds(500)

    /// - Parameter words: of the command; without any item the user chooses files.
    /// - Throws: `CommandError`: `interrupted` if the user closed a window, `unexpected` if nothing can show one.
    func run(_ words: SharedWords) async throws -> WaftExit {
        var words = words
        let given = words.isEmpty ? nil : try words.items()
        guard let dialogs = Dialogs.program else { return try await inTerminal(words) }
        if given == nil {
            guard let chosen = try await dialogs.chooseFiles(), !chosen.isEmpty else { throw givenUp }
            words.paths = chosen
        }
        let items = try given ?? words.items()
        let peers = activities.hasPeers ? try SharePeers(context.waft) : nil
        let rows = rows(await activities.lines(for: items), peers, addsRows: dialogs.addsRows)
        guard let key = try await dialogs.choose(items.words.joined(separator: ", "), rows) else { throw givenUp }
        let activity = activities.all.first { $0.type == key } ?? .airdrop
        let word =
            switch activity.kind {
            case .queue: try await contact(dialogs)
            case .openIn: try await application(for: items.items.first?.path ?? "", dialogs)
            default: key
            }
        let cancellation = Cancellation()
        return try await Interruption.watching(cancellation) { [words] in
            let (steps, feed) = AsyncStream<DialogStep>.makeStream(bufferingPolicy: .bufferingNewest(1))
            let exit = try await withThrowingTaskGroup(of: WaftExit?.self) { group in
                group.addTask {
                    feed.yield(DialogStep(text: beginning(of: activity, word, items)))
                    return await perform(activity, word, items, words, by: peers, cancellation) { feed.yield($0) }
                }
                group.addTask {
                    guard await dialogs.accompany(steps) else { return nil }
                    cancellation.request()
                    try await Task.sleep(for: Self.goodbye)
                    throw givenUp
                }
                defer { group.cancelAll() }
                while let exit = try await group.next() {
                    if let exit { return exit }
                }
                throw givenUp
            }
            if cancellation.isRequested { throw givenUp }
            let lines =
                told.all.isEmpty ? ["\(shown(items)): \(exit == .done ? "done" : "failed")"] : told.all
            try await dialogs.tell(Array(lines.suffix(Self.shownLines)), isFault: exit != .done)
            return exit
        }
    }

    private var givenUp: CommandError { CommandError(.interrupted, "nothing was chosen; nothing was shared") }

    // MARK: The steps

    private func shown(_ items: ShareItems) -> String { TerminalText.escaped(items.title, limit: 60) }

    /// Before the first step of the activity itself.
    private func beginning(of activity: Activity, _ word: String, _ items: ShareItems) -> String {
        guard activity.kind == .send else {
            return "\(TerminalText.escaped(activity.title, limit: 64)): \(shown(items))"
        }
        let peer = PeerID(text: word).map { context.people.person($0, callingItself: nil).line }
        return "Connecting to \(peer ?? TerminalText.escaped(word, limit: 64))"
    }

    // MARK: The rows

    /// The key of a peer is its id, that of an activity its type.
    private func rows(
        _ activities: [ActivityLine], _ peers: SharePeers?, addsRows: Bool
    ) -> AsyncStream<DialogRow> {
        let possible = activities.map { row in
            DialogRow(key: row.type, title: TerminalText.escaped(row.title, limit: 64), detail: "")
        }
        return AsyncStream { continuation in
            let task = Task {
                let first =
                    await peers?.found(within: addsRows ? Self.firstLook : Self.looking) { reason in
                        Console.shared.note("waft: \(TerminalText.escaped(reason, limit: 400))")
                    } ?? []
                for peer in first where peer.isNamed { continuation.yield(DialogRow(peer)) }
                for row in possible { continuation.yield(row) }
                guard addsRows, let peers else { return continuation.finish() }
                var seen = Set(first.map(\.id))
                for await event in peers.events(for: nil) {
                    guard case .found(let peer) = event, peer.isNamed, seen.insert(peer.id).inserted else {
                        continue
                    }
                    continuation.yield(DialogRow(peer))
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    // MARK: The activity

    /// Does an activity, and tells its lines or its failure.
    /// - Parameters:
    ///   - word: the peer, or the number of the program that opens the file.
    ///   - peers: finds the peer.
    ///   - show: gets the steps of a sending.
    private func perform(
        _ activity: Activity, _ word: String, _ items: ShareItems, _ words: SharedWords, by peers: SharePeers?,
        _ cancellation: Cancellation, show: @escaping @Sendable (DialogStep) -> Void
    ) async -> WaftExit {
        var words = words
        do throws(CommandError) {
            // Programs are asked again for the activity, and may offer another type.
            let items = words.programs.isEmpty ? items : try words.items(activity: activity.type)
            return try await CommandError.catching { [words] () throws(WaftError) in
                try await activities.check(activity, items)
                switch activity.kind {
                case .send: return try await send(items, to: word, by: peers, cancellation, show)
                case .queue: try await queue(items, words, to: word, cancellation)
                case .preview, .openIn:
                    let documents = context.waft.documents()
                    for path in items.items.compactMap(\.path) {
                        let document = try documents.file(path)
                        if activity.kind == .preview {
                            told.add(try await documents.preview(of: document).words)
                        } else {
                            let target = try documents.programs(for: document).target(word)
                            told.add(try await documents.open(document, in: target).words)
                        }
                    }
                case .mail, .copy, .print, .saveImage, .handler:
                    let said = try await activities.perform(activity, items).said
                    told.add(said.map { TerminalText.escaped($0, limit: 1_000) })
                }
                return .done
            }
        } catch {
            told.add([error.description])
            return error.exit
        }
    }

    private func send(
        _ items: ShareItems, to peer: String, by peers: SharePeers?, _ cancellation: Cancellation,
        _ show: @escaping @Sendable (DialogStep) -> Void
    ) async throws(WaftError) -> WaftExit {
        let window = SendRendering.Window(items: shown(items), told: { told.add([$0]) }, show: show)
        let rendering = SendRendering(json: false, quiet: false, peers: 1, sources: items.sources, window: window)
        return try await context.waft.send(
            items.sources, to: [peer], by: peers, options(items),
            previews: context.waft.previews(of: items.sources, thumbnail: nil), cancellation: cancellation,
            rendering.show)
    }

    private func queue(
        _ items: ShareItems, _ words: SharedWords, to contact: String, _ cancellation: Cancellation
    ) async throws(WaftError) {
        let queued = QueuedItems(
            items.sources, paths: words.paths, texts: words.texts, urls: words.urls, isSnapshot: false, days: nil)
        for job in try await context.waft.outbox.add(
            queued, to: [contact], options(items), cancellation: cancellation)
        {
            told.add(job.words + (job.daemon ? [] : [QueuedLine.later]))
        }
    }

    private func options(_ items: ShareItems) throws(WaftError) -> SendOptions {
        let subject = items.subject ?? SendSources.subject(of: items.sources)
        var options = try context.waft.sendOptions(subject: subject)
        options.takesPart = false
        options.annotation[SourceApplication.key] = SendCommand.sourceApplication(SourceApplication.share)
        return options
    }

    /// Asks for a contact. That machine may be away.
    private func contact(_ dialogs: any DialogProgram) async throws -> String {
        let names = context.people.contactNames
        guard !names.isEmpty else {
            try await dialogs.tell(["No contact is known yet: waft contacts --help"], isFault: true)
            throw givenUp
        }
        let rows = names.map { name in
            DialogRow(key: name, title: TerminalText.escaped(name, limit: 64), detail: "")
        }
        return try await choose("Send when it is reachable", rows, dialogs)
    }

    /// Asks for a program that opens the file.
    private func application(for path: String, _ dialogs: any DialogProgram) async throws -> String {
        let documents = context.waft.documents()
        let rows = try documents.programs(for: documents.file(path)).lines.map { line in
            DialogRow(
                key: "\(line.facts.place)", title: TerminalText.escaped(line.facts.program, limit: 64),
                detail: line.kind)
        }
        return try await choose("Open in", rows, dialogs)
    }

    private func choose(_ text: String, _ rows: [DialogRow], _ dialogs: any DialogProgram) async throws -> String {
        let rows = AsyncStream<DialogRow> { continuation in
            for row in rows { continuation.yield(row) }
            continuation.finish()
        }
        guard let key = try await dialogs.choose(text, rows) else { throw givenUp }
        return key
    }

    // MARK: Without a dialog program

    /// The sheet in a new terminal.
    private func inTerminal(_ words: SharedWords) async throws -> WaftExit {
        guard Face.hasDisplay else {
            throw CommandError(.unexpected, "there is no desktop here to show a window on", hint: "leave out --window")
        }
        guard let terminal = SystemProgram("x-terminal-emulator") else {
            throw CommandError(
                .unexpected, "there is no program here to show a window", hint: "install zenity or kdialog")
        }
        guard !words.isEmpty else {
            throw CommandError(
                .usage, "nothing to share", hint: "to choose files in a window, install zenity or kdialog")
        }
        let script = "\"$@\"; printf 'Press Enter to close this window. '; read -r line"
        let command = ["-e", "sh", "-c", script, "sh", try OwnPrograms.running(), "share"]
        try await terminal.run(command + words.options + ["--"] + words.paths)
        return .done
    }
}

/// The lines that a window shows at the end.
final class WindowLines: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    func add(_ texts: [String]) {
        let new = texts.flatMap { $0.split(whereSeparator: \.isNewline) }.map(String.init)
        lines.withLock { $0 += new }
    }

    /// The window as a face.
    var face: Face {
        var face = Face()
        face.ellipsis = Glyph.ellipsis
        face.remark = { self.add([TerminalText.escaped($0, limit: 1_000)]) }
        return face
    }
}
