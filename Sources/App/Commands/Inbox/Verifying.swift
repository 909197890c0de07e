import Endpoints
import Foundation
import Inbox
import Journal
import Lines
import Settings
import Sharing

/// A running verification and its findings.
struct Verifying {
    let inbox: String
    let json: Bool
    private var progress = ProgressLine(total: nil)
    private var read: UInt64 = 0
    private let drawing = Throttle()
    private var counts: [ItemFinding.State: Int] = [:]
    /// Items that are locked: only their sealed form was compared.
    private var locked = 0
    /// Good items that were compared by a checksum only.
    private var summed = 0
    private var exit = WaftExit.done

    init(inbox: String, json: Bool) {
        (self.inbox, self.json) = (inbox, json)
    }

    /// - Throws: if there are items to be read, but no Inbox.
    mutating func begin(_ count: Int, bytes: UInt64) throws(CommandError) {
        progress = ProgressLine(total: bytes)
        var isFolder: ObjCBool = false
        guard count > 0 else { return }
        guard FileManager.default.fileExists(atPath: inbox, isDirectory: &isFolder), isFolder.boolValue else {
            throw CommandError(
                .inputMissing, "the Inbox \(TerminalText.escaped(inbox, limit: 400)) does not exist",
                hint: "is its disk mounted?")
        }
    }

    mutating func verify(_ listed: JournalEntry) {
        var (entry, finding) = (listed, finding(listed))
        // It may have left, or have been sealed or opened, since the journal was read.
        while finding.state != .ok, let now = Self.present(entry), now.arrival != entry.arrival || !now.isThere {
            guard now.isThere else { return }
            (entry, finding) = (now, self.finding(now))
        }
        counts[finding.state, default: 0] += 1
        if finding.isLocked { locked += 1 }
        if finding.isOnlySummed { summed += 1 }
        guard let event = EventLine(finding, of: entry.arrival) else { return }
        fail(.contentChanged)
        json ? event.print() : Console.shared.result(FindingText.line(entry, finding))
    }

    private mutating func finding(_ entry: JournalEntry) -> ItemFinding {
        do {
            return try InboxVerification.verify(
                entry.arrival, arrived: entry.arrived, inbox: inbox, keys: ReceiverKeys.keys,
                progressed: { draw($0) })
        } catch {
            return ItemFinding(state: .unreadable, detail: error.message)
        }
    }

    /// The present entry of an item; nil if the journal cannot be read.
    private static func present(_ entry: JournalEntry) -> JournalEntry? {
        (try? JournalReading.read { reader throws(JournalError) in try reader.entry(entry.arrival.number) }) ?? nil
    }

    /// The user has named an item that is not there to be verified.
    mutating func absent(_ wanted: String, _ entry: JournalEntry?) {
        fail(.inputMissing)
        let reason =
            if let entry {
                JournalText.departure(entry) ?? "it had left the Inbox before a handler was asked"
            } else { JournalReading.unknown(wanted) }
        if json {
            let absent = entry.map { entry in
                EventLine.Absent.item(
                    arrival: entry.arrival.number.value, stored: entry.arrival.stored.name.text, reason: reason)
            }
            return EventLine.absent(absent ?? .wanted(wanted, reason: reason)).print()
        }
        Console.shared.note("waft: \(entry.map { "\(FindingText.head($0)): " } ?? "")\(reason)")
    }

    private mutating func fail(_ code: WaftExit) {
        if exit == .done { exit = code }
    }

    private mutating func draw(_ bytes: Int) {
        read &+= UInt64(bytes)
        guard Console.shared.isInteractive, drawing.isDue() else { return }
        Console.shared.status(progress.text(bytes: read, at: .now, width: Console.shared.width))
    }

    func end() -> WaftExit {
        Console.shared.endStatus()
        func count(_ state: ItemFinding.State) -> Int { counts[state] ?? 0 }
        if json {
            EventLine.verified(
                EventLine.Verified(
                    ok: count(.ok), changed: count(.changed), missing: count(.missing),
                    unreadable: count(.unreadable), locked: locked > 0 ? locked : nil,
                    summed: summed > 0 ? summed : nil, exit: exit)
            ).print()
        } else {
            // "0 ok" is no news about an item that is not there.
            if exit != .inputMissing || !counts.isEmpty {
                Console.shared.result(FindingText.summary(counts, locked: locked))
            }
            if summed > 0 { Console.shared.note(FindingText.summed(summed)) }
            if count(.missing) > 0 { Console.shared.note("  to forget a missing item: waft inbox remove NUMBER") }
        }
        return exit
    }
}
