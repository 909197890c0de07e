import Control
import Endpoints
import Journal
import Lines
import Operations
import Settings
import Sharing
import SystemCalls

/// Reads the journal: while a receiver writes it, and when none is running.
enum JournalReading {
    static func read<Value>(
        _ body: (JournalReader) throws(JournalError) -> Value
    ) throws(CommandError) -> Value {
        let reader = try CommandContext.forgiving.waft.journal
        do {
            return try body(reader)
        } catch {
            throw CommandError(.unexpected, TerminalText.escaped(error.description, limit: 1_000))
        }
    }

    /// Finds an arrival, with its attempts, by a word of the user: its number, its name in the Inbox, or its path.
    ///
    /// - Throws: `CommandError` `usage` for a word that is the number of one item and the name of another.
    static func entry(_ word: String) throws(CommandError) -> JournalEntry? {
        let inbox = try CommandContext.forgiving.home.inbox
        let meaning = try read { reader throws(JournalError) in try ItemWord.meaning(of: word, in: inbox, reader) }
        switch meaning {
        case .nothing: return nil
        case .item(let entry): return try self.entry(entry.arrival.number)
        case .either(let numbered, let named):
            let name = TerminalText.escaped(numbered.arrival.stored.name.text)
            throw CommandError(
                .usage, "\(word) is the number of \(name), and the name of item \(named.arrival.number)",
                hint: "write \(ShellWord.quoted("./\(name)")), or ./\(word)")
        }
    }

    /// An arrival with its attempts.
    static func entry(_ number: ArrivalNumber) throws(CommandError) -> JournalEntry? {
        try read { reader throws(JournalError) in try reader.entry(number) }
    }

    /// Arrivals that are read at a time.
    private static let page = 1_024

    /// The arrivals that are in the Inbox according to the journal, in the order of arrival, without their attempts.
    static func entriesThere(_ filter: ArrivalFilter = .all) throws(CommandError) -> [JournalEntry] {
        try read { reader throws(JournalError) in
            var found: [JournalEntry] = []
            while true {
                let entries = try reader.entriesThere(
                    after: found.last?.arrival.number, count: page, filter: filter)
                found += entries
                guard entries.count == page else { return found }
            }
        }
    }

    static func unknown(_ wanted: String) -> String {
        "no item is named or numbered \"\(TerminalText.escaped(wanted))\""
    }
}
