import Journal
import Lines
import Operations
import Sharing

/// An item that a verb works on: named by a word, or selected by options.
enum ChosenItem {
    case item(JournalEntry)
    /// A word that names no item.
    case unknown(String)

    var entry: JournalEntry? {
        if case .item(let entry) = self { entry } else { nil }
    }

    /// For the lines of `--json` about a failure.
    var event: EventLine.Subject {
        switch self {
        case .item(let entry): .item(EventLine.ArrivalName(entry.arrival))
        case .unknown(let word): .wanted(word)
        }
    }

    /// - Throws: `CommandError` `usage` for a word that means two items: nothing is done then.
    init(word: String) throws(CommandError) {
        self = try JournalReading.entry(word).map(Self.item) ?? .unknown(word)
    }

    init(number: ArrivalNumber) throws(CommandError) {
        self = try JournalReading.entry(number).map(Self.item) ?? .unknown("\(number)")
    }

    /// Prints the items for `--dry-run`, as `waft history` does.
    /// - Returns: the exit code.
    static func show(_ items: [ChosenItem], _ people: Acquaintances, json: Bool) -> WaftExit {
        for item in items {
            switch item {
            case .item(let entry):
                if json {
                    EventLine.arrival(JournalFields(entry, people)).print()
                } else {
                    Console.shared.result(JournalText.line(entry, people))
                }
            case .unknown(let word):
                item.show(CommandError(.inputMissing, JournalReading.unknown(word)), json: json)
            }
        }
        return items.allSatisfy { $0.entry != nil } ? .done : .inputMissing
    }

    /// Prints the failure of one item among several.
    func show(_ failure: CommandError, json: Bool) {
        json ? EventLine(failure, of: event).print() : Console.shared.note("waft: \(failure)")
    }

    /// Number and size of the items: `12 items, 3.4 MB`.
    static func amount(_ items: [ChosenItem]) -> String {
        let bytes = items.reduce(UInt64(0)) { $0 &+ ($1.entry?.arrival.size ?? 0) }
        return "\(items.count == 1 ? "1 item" : "\(items.count) items"), \(ByteCount.text(bytes))"
    }
}
