import Control
import Inbox
import Journal
import Lines
import Sharing

/// Asks the running receiver to seal an item in another way.
enum ItemResealing {
    static func change(_ wanted: String, to protection: String, now: Bool, json: Bool) async throws {
        guard let entry = try JournalReading.entry(wanted) else {
            throw CommandError(.inputMissing, JournalReading.unknown(wanted))
        }
        let head = FindingText.head(entry)
        guard entry.isThere else {
            throw CommandError(
                .inputMissing, "\(head): \(JournalText.departure(entry) ?? "it is no longer in the Inbox")")
        }
        let number = entry.arrival.number
        let request = ProtectionRequest.reseal(arrival: number.value, protection: protection, now: now)
        // A large item is written and read back.
        switch try await Daemon.ask(.protection(request), timeout: .seconds(24 * 3_600)) {
        case .done: break
        case .beingRead(let handler, let seconds):
            let reader = "\(TerminalText.escaped(handler, limit: 64)) is reading it (\(seconds) s)"
            throw CommandError(.noAnswer, "\(head): \(reader); --now does it anyway")
        case .itemFault(let code, let reason):
            throw Leaving.failure(LeavingError(code: code, reason))
        case .unknown(let reason): throw CommandError(.inputMissing, TerminalText.escaped(reason, limit: 1_000))
        case .refused(let reason): throw CommandError(.unexpected, TerminalText.escaped(reason, limit: 1_000))
        default: throw CommandError(.unexpected, "the receiver gave no answer")
        }
        let changed = try JournalReading.entry(number)?.arrival ?? entry.arrival
        if json {
            let name = EventLine.ArrivalName(changed)
            return EventLine.resealed(EventLine.Resealed(name: name, protection: changed.protection)).print()
        }
        let words = changed.protection.isSealed ? "sealed as \(changed.protection.rawValue)" : "open, not sealed"
        Console.shared.result("\(head): \(words)")
    }
}
