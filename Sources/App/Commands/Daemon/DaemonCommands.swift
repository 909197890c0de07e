import ArgumentParser
import Control
import Endpoints
import Foundation
import NIOPosix
import Settings
import Sharing

/// Asks the running receiver.
enum Daemon {
    /// - Throws: `CommandFailure`, 69 when none is running.
    static func ask(_ request: ControlRequest) async throws(CommandFailure) -> ControlReply {
        let home = try Surroundings().home
        do {
            let socket = try ControlSocket(folder: home.run)
            return try await ControlClient.ask(request, at: socket, on: MultiThreadedEventLoopGroup.singleton)
        } catch {
            throw failure(error)
        }
    }

    /// - Returns: nil if no receiver is running.
    /// - Throws: `CommandFailure`.
    static func askIfRunning(_ request: ControlRequest) async throws(CommandFailure) -> ControlReply? {
        do throws(CommandFailure) {
            return try await ask(request)
        } catch {
            guard error.exit == .notRunning else { throw error }
            return nil
        }
    }

    /// Tells the running receiver of a change. One that starts later reads everything at its start.
    /// - Returns: whether one is running.
    @discardableResult
    static func tell(_ request: ControlRequest) async -> Bool {
        do throws(CommandFailure) {
            _ = try await ask(request)
        } catch {
            if error.exit == .notRunning { return false }
            let reason = TerminalText.escaped(error.message, limit: 1_000)
            Console.shared.note("warning: the running receiver may not know of the change: \(reason)")
        }
        return true
    }

    /// Watches the running receiver, until it has gone.
    /// - Throws: `CommandFailure`, 69 when none is running; `CancellationError`.
    static func watch(_ see: @Sendable (ControlEvent) async -> Void) async throws {
        let home = try Surroundings().home
        do {
            let socket = try ControlSocket(folder: home.run)
            try await ControlClient.watch(at: socket, on: MultiThreadedEventLoopGroup.singleton, see)
        } catch let error as ControlError {
            throw failure(error)
        }
    }

    static func failure(_ error: ControlError) -> CommandFailure {
        let line = TerminalText.escaped("\(error)", limit: 1_000)
        return switch error.code {
        case .notRunning: CommandFailure(.notRunning, line, hint: "start one with: waftd, or: waft receive")
        case .denied: CommandFailure(.notPermitted, line, hint: "run it in a terminal that no handler has opened")
        case .pathTooLong, .alreadyRunning, .refused, .broken: CommandFailure(.unexpected, line)
        }
    }
}

/// `waft status`: how the receiver is doing.
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the status of your receiver.",
        discussion: "Example: waft status --json. Exit code 69 when none is running."
    )

    @OptionGroup var output: OutputOptions

    func run() async throws {
        guard case .status(let status) = try await Daemon.ask(.status) else {
            throw CommandFailure(.unexpected, "the receiver gave no status")
        }
        if output.json { return EventLine.status(StatusFields(status)).print() }
        let free = status.freeRoom.map(ByteCount.text) ?? status.inboxFault ?? "unknown: the Inbox cannot be reached"
        var lines = [
            ("name", status.name), ("id", PeerID(text: status.id)?.short ?? status.id),
            ("port", String(status.port)), ("inbox", status.inbox),
            ("free", free), ("accepts", status.accept), ("visible to", Self.visibility(status)),
            ("discovery", status.discovery),
        ]
        lines += (status.dialects ?? []).map { ($0.title, $0.words) }
        lines += [
            ("handlers", status.handlers.map(String.init) ?? "unknown"), ("hook", status.hook ?? "none"),
            ("sandbox", status.sandbox ?? "unknown"), ("deliveries", Self.deliveries(status)),
            ("outbox", Self.jobs(status)),
            ("kept partials", Self.partials(status)),
            ("waiting offers", String(status.waitingOffers)),
            ("active transfers", String(status.activeTransfers)), ("process", String(status.processID)),
        ]
        if status.settingsChanged == true {
            lines.append(("settings", "config.yaml has changed since the start: restart the receiver to use it"))
        }
        if let fault = status.journalFault { lines.append(("journal", fault)) }
        lines += (status.damage ?? []).map { ("damaged", $0) }
        for (label, value) in lines {
            let padding = String(repeating: " ", count: 17 - label.count)
            Console.shared.result("\(label)\(padding)\(TerminalText.escaped(value, limit: 400))")
        }
    }

    private static func visibility(_ status: DaemonStatus) -> String {
        let now = status.visible ?? "unknown"
        if let stored = status.visibleStored { return VisibleCommand.line(now, over: stored) }
        guard let seconds = status.visibleSeconds, let then = status.visibleThen else { return now }
        return "\(now) for \(VisibleCommand.words(seconds)); then \(then)"
    }

    private static func jobs(_ status: DaemonStatus) -> String {
        let (waiting, failed) = (status.waitingJobs ?? 0, status.failedJobs ?? 0)
        let hint = waiting + failed > 0 ? "; see: waft outbox" : ""
        return "\(waiting) waiting, \(status.sendingJobs ?? 0) being sent, \(failed) given up\(hint)"
    }

    private static func partials(_ status: DaemonStatus) -> String {
        guard let count = status.keptPartials else { return "unknown" }
        return count == 0 ? "none" : "\(count), \(ByteCount.text(status.keptBytes ?? 0))"
    }

    private static func deliveries(_ status: DaemonStatus) -> String {
        guard let waiting = status.waitingDeliveries else { return "unknown: the journal cannot be read" }
        let (parked, failed) = (status.parkedDeliveries ?? 0, status.failedDeliveries ?? 0)
        let hint = parked + failed > 0 ? "; see: waft history" : ""
        return "\(waiting) waiting, \(parked) parked, \(failed) failed\(hint)"
    }
}

/// `waft accept`.
struct AcceptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept",
        abstract: "Accept an offer, or some of its items.",
        discussion: "Example: waft accept 1, or: waft accept 1 --items 1,3 --to Photos/2026"
    )

    @Argument(
        help: ArgumentHelp("Number of the offer, as waft offers shows it.", valueName: "offer"), completion: .offers)
    var offer: Int

    @Option(
        name: .long,
        help: ArgumentHelp("Items to accept, counted from 1; the others are declined.", valueName: "numbers"))
    var items: String?

    @Option(
        name: .long, help: ArgumentHelp("Folder below the Inbox for the items.", valueName: "dir"),
        completion: .directory)
    var to: String?

    @OptionGroup var output: OutputOptions

    func run() async throws {
        do {
            _ = try to.map { try SafeRelativePath($0) }
        } catch {
            let shown = TerminalText.escaped(to ?? "", limit: 64)
            throw CommandFailure(.usage, "--to: \"\(shown)\" is not a folder below the Inbox: \(error)")
        }
        let numbers = try self.numbers()
        let isWhole = items == nil && to == nil
        let present = try await Daemon.answer(
            isWhole ? .answer(offer: offer, accept: true) : .acceptItems(offer: offer, items: numbers, folder: to))
        if output.json {
            let items = present.map { EventLine.Present(name: $0.name, arrival: $0.arrival, stored: $0.stored) }
            return EventLine.accepted(
                EventLine.Accepted(
                    offer: offer, acceptedCount: numbers.map { Set($0).count }, folder: to,
                    present: items.isEmpty ? nil : items)
            ).print()
        }
        Console.shared.result(AnswerWords.accepted(offer, items: numbers, folder: to))
        for line in AnswerWords.lines(present) { Console.shared.note(line) }
    }

    /// - Returns: places in the offer, from 0; nil for all.
    private func numbers() throws(CommandFailure) -> [Int]? {
        guard let items else { return nil }
        let numbers = items.split(separator: ",", omittingEmptySubsequences: false).map { word in
            Int(word.trimmingCharacters(in: .whitespaces)) ?? 0
        }
        guard numbers.count <= Limits.items, numbers.allSatisfy({ (1...Limits.items).contains($0) }) else {
            throw CommandFailure(.usage, "--items is a list of numbers from 1, such as 1,3")
        }
        return numbers.map { $0 - 1 }
    }
}

/// `waft decline`.
struct DeclineCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decline",
        abstract: "Decline an offer.",
        discussion: "Example: waft decline 1, or: waft decline 1 --block"
    )

    @Argument(
        help: ArgumentHelp("Number of the offer, as waft offers shows it.", valueName: "offer"), completion: .offers)
    var offer: Int

    @Flag(name: .long, help: "Block the sender: decline its other offers, now and later.")
    var block = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        _ = try await Daemon.answer(block ? .block(offer: offer) : .answer(offer: offer, accept: false))
        output.json
            ? EventLine.declined(EventLine.Declined(offer: offer, blocked: block)).print()
            : Console.shared.result(AnswerWords.declined(offer, block: block))
    }
}

extension Daemon {
    /// Answers an offer.
    /// - Returns: accepted items that seem to be in the Inbox already.
    fileprivate static func answer(_ request: ControlRequest) async throws(CommandFailure) -> [PresentItem] {
        switch try await ask(request) {
        case .done: return []
        case .accepted(let present): return present
        case .unknown(let reason):
            throw CommandFailure(.inputMissing, TerminalText.escaped(reason), hint: "see: waft offers")
        case .refused(let reason): throw CommandFailure(.usage, TerminalText.escaped(reason))
        default: throw CommandFailure(.unexpected, "the receiver gave no answer")
        }
    }
}
