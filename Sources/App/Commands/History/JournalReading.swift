import Control
import Endpoints
import Journal
import Settings
import Sharing

/// Reads the journal: while a receiver writes it, and when none is running.
enum JournalReading {
    static func read<Value>(
        _ body: (JournalReader) throws(JournalError) -> Value
    ) throws(CommandError) -> Value {
        let home = try CommandContext(isForgiving: true).home
        do {
            return try body(JournalReader(folder: home.state, dialects: .known))
        } catch {
            throw CommandError(.unexpected, TerminalText.escaped(error.description, limit: 1_000))
        }
    }

    /// Finds an arrival, with its attempts, by its number or by its name in the Inbox. If several arrivals have had
    /// that name, the latest that is still there is returned, or else the latest.
    static func entry(_ wanted: String) throws(CommandError) -> JournalEntry? {
        try read { reader throws(JournalError) -> JournalEntry? in
            if let number = Int64(wanted), let entry = try reader.entry(ArrivalNumber(number)) { return entry }
            let named = try reader.entries(named: wanted)
            guard let meant = named.first(where: \.isThere) ?? named.first else { return nil }
            return try reader.entry(meant.arrival.number)
        }
    }

    static func unknown(_ wanted: String) -> String {
        "no item is named or numbered \"\(TerminalText.escaped(wanted))\""
    }
}
