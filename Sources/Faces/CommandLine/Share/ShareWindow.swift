import Lines
import Operations
import Subprocess
import SystemPackage

/// The sheet in a window: asks there, and runs `waft share` with the answer.
struct ShareWindow {
    /// The words of the command without `--window` and without files.
    let options: [String]
    let activities: Activities
    let context: CommandContext

    /// An open window shows the peers of this time first; later ones come below the activities.
    private static let firstLook: Duration = .seconds(1)
    private static let looking: Duration = .seconds(3)
    private static let shownLines = 20
    private static let outputBytes = 256 << 10

    /// - Parameter items: nil if the user shall choose files.
    /// - Throws: `CommandError`: `interrupted` if the user closed a window, `unexpected` if nothing can show one.
    func run(_ items: ShareItems?, paths: [String]) async throws -> WaftExit {
        guard let dialogs = Dialogs.program else { return try await inTerminal(paths) }
        var paths = paths
        var items = items
        if items == nil {
            guard let chosen = try await dialogs.chooseFiles(), !chosen.isEmpty else { throw givenUp }
            paths = chosen
            var words = SharedWords(paths: chosen)
            items = try words.items()
        }
        guard let items else { throw givenUp }
        let rows = try rows(await activities.lines(for: items), addsRows: dialogs.addsRows)
        guard let key = try await dialogs.choose(items.words.joined(separator: ", "), rows) else { throw givenUp }
        let words = try await self.words(for: key, items, paths, dialogs)
        return try await perform(words, items.title, dialogs)
    }

    private var givenUp: CommandError { CommandError(.interrupted, "nothing was chosen; nothing was shared") }

    // MARK: The rows

    /// The key of a peer is its id, that of an activity its type.
    private func rows(_ activities: [ActivityLine], addsRows: Bool) throws -> AsyncStream<DialogRow> {
        let peers = self.activities.hasPeers ? try SharePeers(context.waft) : nil
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

    /// The command that does it.
    private func words(
        for key: String, _ items: ShareItems, _ paths: [String], _ dialogs: any DialogProgram
    ) async throws -> [String] {
        let rest = options + ["--"] + paths
        switch activities.all.first(where: { $0.type == key })?.kind {
        case nil: return ["share", "--to=\(key)"] + rest
        case .queue: return ["share", "--activity=\(key)", "--to=\(try await contact(dialogs))"] + rest
        case .openIn:
            guard let path = items.items.first?.path else { throw givenUp }
            return ["open-in", "--", path, try await application(for: path, dialogs)]
        default: return ["share", "--activity=\(key)"] + rest
        }
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
        let documents = context.documents
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

    private struct End: Sendable {
        var exit: WaftExit
        var lines: [String]
    }

    private func perform(_ words: [String], _ title: String, _ dialogs: any DialogProgram) async throws -> WaftExit {
        let end = try await withThrowingTaskGroup(of: End?.self) { group in
            group.addTask { try await Self.run(words) }
            group.addTask {
                guard await dialogs.accompany(title) else { return nil }
                throw givenUp
            }
            defer { group.cancelAll() }
            while let end = try await group.next() {
                if let end { return end }
            }
            throw givenUp
        }
        let lines = end.lines.isEmpty ? [end.exit == .done ? "\(title): done" : "\(title): failed"] : end.lines
        try await dialogs.tell(Array(lines.suffix(Self.shownLines)), isFault: end.exit != .done)
        return end.exit
    }

    /// Runs this program again. If the task is cancelled, it is interrupted as by Ctrl-C.
    private static func run(_ words: [String]) async throws -> End {
        var options = PlatformOptions()
        options.teardownSequence = [.send(signal: .interrupt, allowedDurationToNextStep: .seconds(5))]
        let result = try await Subprocess.run(
            Configuration(
                executable: .path(FilePath(try OwnPrograms.running())), arguments: Arguments(words),
                platformOptions: options),
            input: .none, output: .string(limit: outputBytes), error: .string(limit: outputBytes))
        let lines = (result.standardError + result.standardOutput).split(whereSeparator: \.isNewline).map(String.init)
        guard case .exited(let code) = result.terminationStatus, let exit = WaftExit(rawValue: code) else {
            return End(exit: .unexpected, lines: lines)
        }
        return End(exit: exit, lines: lines)
    }

    // MARK: Without a dialog program

    /// The sheet in a new terminal.
    private func inTerminal(_ paths: [String]) async throws -> WaftExit {
        guard Face.hasDisplay else {
            throw CommandError(.unexpected, "there is no desktop here to show a window on", hint: "leave out --window")
        }
        guard let terminal = SystemProgram("x-terminal-emulator") else {
            throw CommandError(
                .unexpected, "there is no program here to show a window", hint: "install zenity or kdialog")
        }
        guard !paths.isEmpty || options.contains(where: { $0.hasPrefix("--text") || $0.hasPrefix("--url") }) else {
            throw CommandError(
                .usage, "nothing to share", hint: "to choose files in a window, install zenity or kdialog")
        }
        let script = "\"$@\"; printf 'Press Enter to close this window. '; read -r line"
        let words = ["-e", "sh", "-c", script, "sh", try OwnPrograms.running(), "share"] + options + ["--"] + paths
        try await terminal.run(words)
        return .done
    }
}
