import ArgumentParser
import ContentCheck
import Control
import Endpoints
import Foundation
import HandlerCatalog
import Handlers
import Inbox
import Journal
import Settings
import Sharing

/// `waft inbox take`: move items out.
struct InboxTakeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "take",
        abstract: "Move items out of the Inbox, with the modes of your own files.",
        discussion: """
            Example: waft inbox take 12 report.pdf ~/Documents

            Existing files are never replaced: if the name exists, a number is added. On another disk the item is copied, \
            synced, read back and compared before it is deleted here. Exit code 15 if a handler still reads an item after \
            five seconds.
            """
    )

    @Argument(
        help: ArgumentHelp(
            "Numbers or names of items, then the target folder.",
            valueName: "item> ... <folder"), completion: .inboxItemsAndFolders)
    var words: [String]

    @Option(
        name: .long,
        help: ArgumentHelp("New name of the item; refused if the name exists.", valueName: "name"))
    var name: String?

    @OptionGroup var readers: ReaderOptions

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard words.count >= 2 else { throw ValidationError("Give one or more items, then the target folder.") }
        guard name == nil || words.count == 2 else { throw ValidationError("--name needs exactly one item.") }
    }

    func run() async throws {
        let name = try self.name.map { text throws(CommandFailure) in
            do throws(NameRefusal) { return try SafeName(text) } catch {
                throw CommandFailure(.usage, "--name cannot be used: \(TerminalText.escaped(error.said(of: text)))")
            }
        }
        let leaving = Leaving(inbox: try Surroundings().inbox, now: readers.now, json: output.json)
        let directory = words[words.count - 1]
        let exit = try await leaving.each(Array(words.dropLast())) { entry throws(LeavingFault) in
            let size = entry.arrival.size
            var progress = ProgressLine(total: size)
            var bytes: UInt64 = 0
            let taken = try InboxLeaving.take(entry.arrival, inbox: leaving.inbox, to: directory, name: name) { count in
                bytes &+= UInt64(count)
                guard Console.shared.isInteractive else { return }
                Console.shared.status(progress.text(bytes: bytes, at: .now, width: Console.shared.width))
            }
            Console.shared.endStatus()
            return Leaving.Outcome(
                how: .taken, toward: taken.path,
                words: "\(Glyph.arrow) \(TerminalText.escaped(taken.path, limit: 4_096))",
                remark: taken.remark, hasLeft: taken.hasLeft)
        }
        if exit != .done { throw exit.code }
    }
}

/// `waft inbox remove`: delete items.
struct InboxRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Delete items of the Inbox.",
        discussion: """
            Example: waft inbox remove 12

            waft inbox verify no longer reports removed items as missing, even if another program moved or deleted them. Exit \
            code 15 if a handler still reads an item after five seconds.
            """
    )

    @Argument(
        help: ArgumentHelp(
            "Numbers of items, as waft inbox shows them, or their names.", valueName: "item"),
        completion: .inboxItems)
    var arrivals: [String]

    @OptionGroup var readers: ReaderOptions

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let leaving = Leaving(inbox: try Surroundings().inbox, now: readers.now, json: output.json)
        let exit = try await leaving.each(arrivals) { entry throws(LeavingFault) in
            let wasThere = try InboxLeaving.remove(entry.arrival, inbox: leaving.inbox)
            return Leaving.Outcome(how: .removed, words: wasThere ? "removed" : "it was gone already")
        }
        if exit != .done { throw exit.code }
    }
}

/// Moves items out of the Inbox, one after the other: each is moved on the disk, recorded, and reported.
struct Leaving {
    struct Outcome {
        var how: Departure.How
        var toward = ""
        /// The outcome, escaped.
        var words: String
        /// A problem beside the success; not escaped.
        var remark: String?
        /// Whether it is out of the Inbox.
        var hasLeft = true
    }

    let inbox: String
    /// Whether to move an item without waiting for the handlers that read it.
    let now: Bool
    let json: Bool

    /// - Returns: the code of the first item that failed; the other items are still moved.
    func each(
        _ wanted: [String], _ leave: (JournalEntry) throws(LeavingFault) -> Outcome
    ) async throws(CommandFailure) -> WaftExit {
        var exit = WaftExit.done
        for wanted in wanted {
            let code = try await one(wanted, leave)
            if exit == .done { exit = code }
        }
        return exit
    }

    private func one(
        _ wanted: String, _ leave: (JournalEntry) throws(LeavingFault) -> Outcome
    ) async throws(CommandFailure) -> WaftExit {
        guard let entry = try JournalReading.entry(wanted) else {
            return fail(.inputMissing, JournalReading.unknown(wanted), name: wanted, nil)
        }
        guard entry.departure == nil else {
            let reason = JournalText.departure(entry) ?? ""
            return fail(.inputMissing, "\(FindingText.head(entry)): \(reason)", name: wanted, entry)
        }
        if let reader = try await InboxReaders.reader(of: entry.arrival.number, now: now) {
            return fail(.noAnswer, "\(FindingText.head(entry)): \(reader); --now does it anyway", name: wanted, entry)
        }
        let outcome: Outcome
        do throws(LeavingFault) {
            outcome = try InboxReaders.keepingAway(from: entry.arrival.number) { () throws(LeavingFault) in
                try leave(entry)
            }
        } catch {
            Console.shared.endStatus()
            return fail(Self.exit(error), TerminalText.escaped(error.message, limit: 1_000), name: wanted, entry)
        }
        var remarks = [outcome.remark].compactMap(\.self)
        if outcome.hasLeft {
            do throws(CommandFailure) {
                try await JournalWriting.departed(entry.arrival.number, outcome.how, toward: outcome.toward)
            } catch {
                remarks.append("the journal still lists it: \(error.message)")
            }
        }
        let code = remarks.isEmpty ? WaftExit.done : .unexpected
        if json {
            let remark = remarks.isEmpty ? nil : remarks.joined(separator: "; ")
            let item = EventLine.DepartedItem.command(EventLine.ArrivalName(entry.arrival), code, remark: remark)
            EventLine(item, outcome.how, toward: outcome.toward).print()
        } else {
            Console.shared.result("\(FindingText.head(entry)): \(outcome.words)")
            for remark in remarks { Console.shared.note("waft: \(TerminalText.escaped(remark, limit: 1_000))") }
        }
        return code
    }

    /// - Parameters:
    ///   - reason: escaped.
    ///   - entry: nil if the journal has no such item.
    private func fail(_ code: WaftExit, _ reason: String, name: String, _ entry: JournalEntry?) -> WaftExit {
        if json {
            let subject = entry.map { EventLine.Subject.item(EventLine.ArrivalName($0.arrival)) } ?? .wanted(name)
            EventLine(CommandFailure(code, reason), of: subject).print()
        } else {
            Console.shared.note("waft: \(reason)")
        }
        return code
    }

    private static func exit(_ fault: LeavingFault) -> WaftExit {
        switch fault.code {
        case .gone, .noDestination: .inputMissing
        case .different, .mismatch: .contentChanged
        case .destination, .nameTaken: .usage
        case .noRoom: .noRoom
        case .disk: .unexpected
        }
    }
}

/// Writes to the journal from a command: through the running receiver, or directly if none is running.
enum JournalWriting {
    /// A receiver may start or stop between the two ways.
    private static let tries = 3

    static func departed(
        _ number: ArrivalNumber, _ how: Departure.How, toward: String
    ) async throws(CommandFailure) {
        let folder = try Surroundings().home.state
        var failure = CommandFailure(.unexpected, "the receiver gave no answer")
        for _ in 0..<tries {
            switch try await Daemon.askIfRunning(.departed(arrival: number.value, how: how, toward: toward)) {
            case .done: return
            case .refused(let reason): throw CommandFailure(.unexpected, reason)
            case nil: break
            default: throw failure
            }
            do throws(JournalFault) {
                try Journal(folder: folder, dialects: .known).departed(
                    [number], Departure(how, at: .now, toward: toward))
                return
            } catch {
                failure = CommandFailure(.unexpected, error.description)
            }
        }
        throw failure
    }
}

/// `waft inbox open`: show an item on the desktop.
struct InboxOpenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Show an item of the Inbox on the desktop, by xdg-open.",
        discussion: """
            Example: waft inbox open 12

            An item whose content does not match its type is not opened. To give an item to its handler: waft inbox retry 12.
            """
    )

    @Argument(
        help: ArgumentHelp(
            "Number of the item, as waft inbox shows it, or its name.", valueName: "item"),
        completion: .inboxItems)
    var arrival: String

    @OptionGroup var output: OutputOptions

    func run() async throws {
        guard let entry = try JournalReading.entry(arrival) else {
            throw CommandFailure(.inputMissing, JournalReading.unknown(arrival), hint: "see: waft history")
        }
        if let left = JournalText.departure(entry) {
            throw CommandFailure(.inputMissing, "\(FindingText.head(entry)): \(left)")
        }
        if let content = entry.arrival.content, content.outcome == .lying {
            throw CommandFailure(
                .ineligible, "\(FindingText.head(entry)): \(TerminalText.escaped(content.explanation))",
                hint: "to open it with another program, move it out: "
                    + "waft inbox take \(entry.arrival.number) DIR")
        }
        let path = entry.arrival.stored.path
        guard FileManager.default.fileExists(atPath: path) else {
            throw CommandFailure(.inputMissing, "\(FindingText.head(entry)): it is no longer in the Inbox")
        }
        guard let opener = SystemOpener() else {
            throw CommandFailure(.unexpected, "xdg-open is missing; install xdg-utils")
        }
        let url = try OpenCommand.parts(URL(fileURLWithPath: path).absoluteString)
        let outcome = await opener.open(url)
        let reason = TerminalText.escaped(outcome.reason, limit: 400)
        guard outcome.answer == .yes else {
            throw CommandFailure(.handlerSaidNo, "\(FindingText.head(entry)): \(reason)")
        }
        if output.json { return EventLine.opened(.onDesktop(EventLine.ArrivalName(entry.arrival), .done)).print() }
        Console.shared.result("\(FindingText.head(entry)): \(reason)")
    }
}
