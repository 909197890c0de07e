import Foundation
import Inbox
import Journal
package import Lines
import Sharing

extension Arrivals {
    /// An item that is not as it should be.
    package enum Finding: Sendable {
        case changed(ChangedLine)
        case missing(MissingLine)
        case unreadable(UnreadableLine)
        case absent(AbsentLine)

        package var line: any Line {
            switch self {
            case .changed(let line): line
            case .missing(let line): line
            case .unreadable(let line): line
            case .absent(let line): line
            }
        }
    }

    /// Compares items with those that arrived: reads every one from the disk, except those that have left.
    /// - Parameters:
    ///   - words: name items; all without a word.
    ///   - progressed: called with the bytes that were read so far, and of how many.
    ///   - found: called for each finding.
    /// - Throws: `WaftError`: `inputMissing` if there are items, but no Inbox; `usage` for a word that means two items;
    ///   `interrupted` if the task is cancelled.
    package func verify(
        _ words: [String], progressed: @escaping (UInt64, UInt64) -> Void = { _, _ in },
        found: @escaping (Finding) -> Void
    ) throws(WaftError) -> VerifiedLine {
        var verification = Verification(inbox: try place(), arrivals: self, progressed: progressed, found: found)
        try verification.run(words)
        return verification.counts
    }
}

private struct Verification {
    let inbox: String
    let arrivals: Arrivals
    let progressed: (UInt64, UInt64) -> Void
    let found: (Arrivals.Finding) -> Void
    var counts = VerifiedLine()
    private var (read, total): (UInt64, UInt64) = (0, 0)

    /// Arrivals that are read from the journal at a time.
    private static let page = 500
    /// Arrivals whose files the kernel reads ahead.
    private static let lead = 64

    init(
        inbox: String, arrivals: Arrivals, progressed: @escaping (UInt64, UInt64) -> Void,
        found: @escaping (Arrivals.Finding) -> Void
    ) {
        (self.inbox, self.arrivals, self.progressed, self.found) = (inbox, arrivals, progressed, found)
    }

    mutating func run(_ words: [String]) throws(WaftError) {
        guard words.isEmpty else {
            let entries = try words.map { word throws(WaftError) in (word, try arrivals.entry(word)) }
            total = entries.reduce(0) { $0 &+ ($1.1?.arrival.size ?? 0) }
            if entries.contains(where: { $0.1?.isThere == true }) { try checkInbox() }
            for (word, entry) in entries {
                try goOn()
                if let entry, entry.isThere { verify(entry) } else { report(absence(word, entry), .inputMissing) }
            }
            return
        }
        let totals = try arrivals.read { reader throws(JournalError) in try reader.totalsThere() }
        total = totals.bytes
        if totals.count > 0 { try checkInbox() }
        var last: ArrivalNumber?
        while true {
            let entries = try arrivals.read { [last] reader throws(JournalError) in
                try reader.entriesThere(after: last, count: Self.page)
            }
            var ahead: [Bool] = []
            for (index, entry) in entries.enumerated() {
                try goOn()
                for next in entries[ahead.count..<min(index + Self.lead, entries.count)] {
                    ahead.append(InboxVerification.readAhead(next.arrival, inbox: inbox))
                }
                verify(entry, isReadAhead: ahead[index])
            }
            guard let end = entries.last else { return }
            last = end.arrival.number
        }
    }

    /// - Throws: `WaftError` `interrupted` if the task is cancelled.
    private func goOn() throws(WaftError) {
        if Task.isCancelled { throw WaftError.interrupted }
    }

    private func checkInbox() throws(WaftError) {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: inbox, isDirectory: &isFolder), isFolder.boolValue else {
            throw WaftError(.inputMissing, "the Inbox \(inbox) does not exist", hint: "is its disk mounted?")
        }
    }

    private mutating func verify(_ listed: JournalEntry, isReadAhead: Bool = false) {
        var (entry, finding) = (listed, finding(listed, isReadAhead: isReadAhead))
        // It may have left, or have been sealed or opened, since the journal was read.
        while finding.state != .ok, let now = (try? arrivals.entry(entry.arrival.number)) ?? nil,
            now.arrival != entry.arrival || !now.isThere
        {
            guard now.isThere else { return }
            (entry, finding) = (now, self.finding(now))
        }
        if finding.isLocked { counts.locked = (counts.locked ?? 0) + 1 }
        if finding.isOnlySummed { counts.summed = (counts.summed ?? 0) + 1 }
        let (item, reason) = (ItemName(entry.arrival), finding.detail.isEmpty ? nil : finding.detail)
        switch finding.state {
        case .ok: counts.ok += 1
        case .changed:
            counts.changed += 1
            let touched = finding.touched.map { LineTime(milliseconds: $0.seconds &* 1_000) }
            let differences = finding.differences.map(\.rawValue)
            report(.changed(ChangedLine(item, differences: differences, reason: reason, touched: touched)))
        case .missing:
            counts.missing += 1
            report(.missing(MissingLine(item, reason: reason)))
        case .unreadable:
            counts.unreadable += 1
            report(.unreadable(UnreadableLine(item, reason: reason)))
        }
    }

    private mutating func finding(_ entry: JournalEntry, isReadAhead: Bool = false) -> ItemFinding {
        do {
            return try InboxVerification.verify(
                entry.arrival, arrived: entry.arrived, inbox: inbox, isReadAhead: isReadAhead,
                keys: arrivals.waft.receiver.fileKeys,
                progressed: { bytes in
                    read &+= UInt64(bytes)
                    progressed(read, total)
                })
        } catch {
            return ItemFinding(state: .unreadable, detail: error.message)
        }
    }

    private func absence(_ word: String, _ entry: JournalEntry?) -> Arrivals.Finding {
        guard let entry else { return .absent(AbsentLine(wanted: word, reason: Arrivals.unknown(word))) }
        let reason = entry.leaving ?? "it had left the Inbox before a handler was asked"
        return .absent(AbsentLine(ItemName(entry.arrival), reason: reason))
    }

    private mutating func report(_ finding: Arrivals.Finding, _ code: WaftExit = .contentChanged) {
        if counts.exit == .done { counts.exit = code }
        found(finding)
    }
}
