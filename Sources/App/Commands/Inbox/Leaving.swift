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

/// Moves items out of the Inbox, one after the other: each is moved on the disk, recorded, and reported.
struct Leaving {
    struct Ending {
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
    /// The outcome for an item that is gone, and whose place a later item has; nil: a failure.
    var whenReplaced: Ending?

    /// - Returns: the code of the first item that failed; the other items are still moved.
    func each(
        _ items: [ChosenItem], _ leave: (JournalEntry) throws(LeavingError) -> Ending
    ) async throws(CommandError) -> WaftExit {
        var exit = WaftExit.done
        for item in items {
            let code = try await one(item, leave)
            if exit == .done { exit = code }
        }
        return exit
    }

    private func one(
        _ item: ChosenItem, _ leave: (JournalEntry) throws(LeavingError) -> Ending
    ) async throws(CommandError) -> WaftExit {
        // It may have left since it was chosen.
        guard let chosen = item.entry, let entry = try JournalReading.entry(chosen.arrival.number) else {
            if case .unknown(let word) = item { return fail(.inputMissing, JournalReading.unknown(word), item) }
            return fail(.inputMissing, "it is no longer in the journal", item)
        }
        guard entry.departure == nil else {
            let reason = JournalText.departure(entry) ?? ""
            return fail(.inputMissing, "\(FindingText.head(entry)): \(reason)", item)
        }
        if let reader = try await InboxReaders.reader(of: entry.arrival.number, now: now) {
            return fail(.noAnswer, "\(FindingText.head(entry)): \(reader); --now does it anyway", item)
        }
        // Another program may have moved it, and a later item may have its place.
        let isThere = try JournalReading.read { reader throws(JournalError) in
            try reader.isThere(entry.arrival.number)
        }
        guard isThere || whenReplaced != nil else {
            let message = "\(FindingText.head(entry)): it is gone, and a later item has its place"
            let hint = "waft inbox remove \(entry.arrival.number) forgets it, and leaves the later one alone"
            return fail(.inputMissing, message, item, hint: hint)
        }
        let outcome: Ending
        do throws(LeavingError) {
            outcome = try InboxReaders.keepingAway(from: entry.arrival.number) { () throws(LeavingError) in
                if !isThere, let whenReplaced { return whenReplaced }
                return try leave(entry)
            }
        } catch {
            Console.shared.endStatus()
            let failure = Self.failure(error)
            return fail(failure.exit, failure.message, item, hint: failure.hint)
        }
        var remarks = [outcome.remark].compactMap(\.self)
        if outcome.hasLeft {
            do throws(CommandError) {
                try await JournalWriting.departed(entry.arrival.number, outcome.how, toward: outcome.toward)
            } catch {
                remarks.append("the journal still lists it: \(error.message)")
            }
        }
        let code = remarks.isEmpty ? WaftExit.done : .unexpected
        if json {
            let remark = remarks.isEmpty ? nil : remarks.joined(separator: "; ")
            let item = EventLine.DepartedItem(item: EventLine.ArrivalName(entry.arrival), exit: code, remark: remark)
            let line: EventLine =
                outcome.how == .taken
                ? .taken(EventLine.Moved(item: item, toward: outcome.toward)) : .removed(item)
            line.print()
        } else {
            Console.shared.result("\(FindingText.head(entry)): \(outcome.words)")
            for remark in remarks { Console.shared.note("waft: \(TerminalText.escaped(remark, limit: 1_000))") }
        }
        return code
    }

    /// - Parameter reason: escaped.
    private func fail(_ code: WaftExit, _ reason: String, _ item: ChosenItem, hint: String? = nil) -> WaftExit {
        item.show(CommandError(code, reason, hint: hint), json: json)
        return code
    }

    /// The error of a command that ends with it.
    static func failure(_ error: LeavingError) -> CommandError {
        let exit = exit(error)
        return CommandError(
            exit, TerminalText.escaped(error.message, limit: 1_000),
            hint: exit == .locked ? CommandError.unlockHint : nil)
    }

    private static func exit(_ fault: LeavingError) -> WaftExit {
        switch fault.code {
        case .gone, .noDestination: .inputMissing
        case .locked: .locked
        case .different, .mismatch: .contentChanged
        case .destination, .nameTaken: .usage
        case .noRoom: .noRoom
        case .disk: .unexpected
        }
    }
}
