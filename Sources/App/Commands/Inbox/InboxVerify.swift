import ArgumentParser
import Endpoints
import Foundation
import Inbox
import Journal
import Settings
import Sharing

/// `waft inbox verify`: compares the contents of the Inbox with the received items.
struct InboxVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Compare the items in the Inbox with what was received.",
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

    /// Arrivals that are read from the journal at a time.
    private static let page = 500

    func run() async throws {
        let inbox = try Surroundings().inbox
        var verifying = Verifying(inbox: inbox, json: output.json)
        if arrivals.isEmpty {
            let totals = try JournalReading.read { reader throws(JournalFault) in try reader.totalsThere() }
            try verifying.begin(totals.count, bytes: totals.bytes)
            var last: ArrivalNumber?
            while true {
                let after = last
                let entries = try JournalReading.read { reader throws(JournalFault) in
                    try reader.entriesThere(after: after, count: Self.page)
                }
                for entry in entries { verifying.verify(entry) }
                guard let end = entries.last else { break }
                last = end.arrival.number
            }
        } else {
            let entries = try arrivals.map { (wanted: $0, entry: try JournalReading.entry($0)) }
            let bytes = entries.reduce(0) { $0 &+ ($1.entry?.arrival.size ?? 0) }
            try verifying.begin(entries.count { $0.entry?.isThere == true }, bytes: bytes)
            for (wanted, entry) in entries {
                if let entry, entry.isThere { verifying.verify(entry) } else { verifying.absent(wanted, entry) }
            }
        }
        let exit = verifying.end()
        if exit != .done { throw exit.code }
    }
}

/// A running verification and its findings.
private struct Verifying {
    let inbox: String
    let json: Bool
    private var progress = ProgressLine(total: nil)
    private var read: UInt64 = 0
    private var counts: [ItemFinding.State: Int] = [:]
    private var exit = WaftExit.done

    init(inbox: String, json: Bool) {
        (self.inbox, self.json) = (inbox, json)
    }

    /// - Throws: if there are items to be read, but no Inbox.
    mutating func begin(_ count: Int, bytes: UInt64) throws(CommandFailure) {
        progress = ProgressLine(total: bytes)
        var isFolder: ObjCBool = false
        guard count > 0 else { return }
        guard FileManager.default.fileExists(atPath: inbox, isDirectory: &isFolder), isFolder.boolValue else {
            throw CommandFailure(
                .inputMissing, "the Inbox \(TerminalText.escaped(inbox, limit: 400)) does not exist",
                hint: "is its disk mounted?")
        }
    }

    mutating func verify(_ entry: JournalEntry) {
        let finding: ItemFinding
        do {
            finding = try InboxVerification.verify(
                entry.arrival, arrived: entry.arrived, inbox: inbox, progressed: { draw($0) })
        } catch {
            finding = ItemFinding(state: .unreadable, detail: error.message)
        }
        counts[finding.state, default: 0] += 1
        guard let event = EventLine(finding, of: entry.arrival) else { return }
        fail(.contentChanged)
        json ? event.print() : Console.shared.result(FindingText.line(entry, finding))
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
        guard Console.shared.isInteractive else { return }
        Console.shared.status(progress.text(bytes: read, at: .now, width: Console.shared.width))
    }

    func end() -> WaftExit {
        Console.shared.endStatus()
        func count(_ state: ItemFinding.State) -> Int { counts[state] ?? 0 }
        if json {
            EventLine.verified(
                EventLine.Verified(
                    ok: count(.ok), changed: count(.changed), missing: count(.missing),
                    unreadable: count(.unreadable), exit: exit)
            ).print()
        } else {
            Console.shared.result(FindingText.summary(counts))
            if count(.missing) > 0 { Console.shared.note("  to forget a missing item: waft inbox remove NUMBER") }
        }
        return exit
    }
}

/// A finding, in words.
enum FindingText {
    static func head(_ entry: JournalEntry) -> String {
        "\(entry.arrival.number)  \(TerminalText.escaped(entry.arrival.stored.name.text))"
    }

    static func line(_ entry: JournalEntry, _ finding: ItemFinding) -> String {
        "\(head(entry)): \(words(finding))"
    }

    private static func words(_ finding: ItemFinding) -> String {
        let detail = finding.detail.isEmpty ? "" : "; \(TerminalText.escaped(finding.detail, limit: 400))"
        switch finding.state {
        case .ok: return "ok"
        case .missing: return "missing: another program moved or deleted it"
        case .unreadable: return "unreadable\(detail)"
        case .changed:
            let differences = finding.differences.map(\.rawValue).joined(separator: ", ")
            let how = finding.differences.contains(.kind) ? "" : touched(finding)
            return "changed: \(differences)\(detail)\(how)"
        }
    }

    private static func touched(_ finding: ItemFinding) -> String {
        guard let touched = finding.touched else { return "" }
        return "; last touched \(JournalText.time(WallTime(milliseconds: touched.seconds &* 1_000)))"
    }

    static func summary(_ counts: [ItemFinding.State: Int]) -> String {
        let parts = [ItemFinding.State.ok, .changed, .missing, .unreadable].map { ($0.rawValue, counts[$0] ?? 0) }
        let shown = parts.filter { $0.0 == "ok" || $0.1 > 0 }.map { "\($0.1) \($0.0)" }
        return shown.joined(separator: ", ")
    }
}
