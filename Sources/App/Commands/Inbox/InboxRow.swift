import Contacts
import Endpoints
import Inbox
import Journal
import Lines
import Operations
import Sending
import Settings
import Sharing
import UniformTypes

/// Something in the Inbox, with its arrival if the journal knows it.
struct InboxRow {
    struct Fields: Encodable {
        /// The name that it has in the Inbox.
        var stored: String
        var path: String
        /// `ItemKind`, or `link` or `other` for an entry that is no item.
        var kind: String
        var size: UInt64?
        var modified: String
        /// When it arrived; absent for an entry that another program made.
        var arrived: String?
        var mark: String?
        /// How it is sealed: `unlessOpen` and others; absent for an item that is not.
        var protection: String?
        /// Of an item that the journal knows: its number, the name that was offered, its type, and the sender.
        var arrival: Int64?
        var name: String?
        var type: String?
        var from: EventLine.Peer?
    }

    var entry: InboxListing.Entry
    /// Its name, or its path below the Inbox.
    var shownName: String
    var arrival: Arrival?
    /// When it arrived; nil for an entry that another program made.
    var arrived: WallTime?

    init(entry: InboxListing.Entry, shownName: String, _ known: JournalEntry?) {
        (self.entry, self.shownName) = (entry, shownName)
        (arrival, arrived) = (known?.arrival, known?.arrived)
    }

    func fields(_ people: Acquaintances) -> Fields {
        var fields = Fields(
            stored: entry.name, path: entry.path, kind: kind, size: entry.size,
            modified: ISOTime.text(WallTime(milliseconds: entry.modified.seconds &* 1_000)),
            arrived: arrived.map(ISOTime.text), mark: entry.mark)
        if let arrival {
            (fields.arrival, fields.name) = (arrival.number.value, arrival.item.name.text)
            fields.type = arrival.type.identifier
            if arrival.protection.isSealed {
                (fields.protection, fields.stored) = (arrival.protection.rawValue, arrival.stored.name.text)
                fields.size = entry.kind == .file ? arrival.size : nil
            }
            fields.from = people.person(arrival.peer, callingItself: arrival.senderName).fields
        }
        return fields
    }

    /// For programs.
    private var kind: String {
        switch entry.kind {
        case .file: (arrival?.item.kind ?? .file).rawValue
        case .folder: ItemKind.tree.rawValue
        case .link, .other: entry.kind.rawValue
        }
    }

    /// The names of the columns of `line`.
    static let heading = "No.        Size  Arrived              Item"

    /// Fills the column of a time.
    private static let noTime = "-" + String(repeating: " ", count: 18)

    /// The oldest arrival first, and before it the entries that other programs made.
    static func sorted(_ rows: [InboxRow]) -> [InboxRow] {
        rows.filter { $0.arrival == nil }
            + rows.compactMap { row in row.arrival.map { (number: $0.number.value, row: row) } }
            .sorted { $0.number < $1.number }.map(\.row)
    }

    func line(_ people: Acquaintances) -> String {
        let sealed = arrival.flatMap { $0.protection.isSealed ? $0 : nil }
        let size = entry.kind == .file ? ByteCount.text(sealed?.size ?? entry.size ?? 0) : entry.kind.rawValue
        let padding = String(repeating: " ", count: max(0, 10 - size.count))
        let number = arrival.map { String($0.number.value) } ?? "-"
        let time = arrived.map(JournalText.time) ?? Self.noTime
        let sender = arrival.map { " from " + people.person($0.peer, callingItself: $0.senderName).line }
        return "\(number)\(String(repeating: " ", count: max(0, 5 - number.count)))\(padding)\(size)  "
            + "\(time)  \(TerminalText.escaped(shownName, limit: 1_000))\(sender ?? "")"
            + (sealed == nil ? "" : "  (sealed)")
    }

    /// Number and size of the items: files with their size on the disk, folders with the size at arrival.
    static func summary(_ rows: [InboxRow]) -> String {
        let bytes = rows.reduce(UInt64(0)) { sum, row in
            let sealed = row.arrival.flatMap { $0.protection.isSealed ? $0.size : nil }
            return sum &+ (sealed ?? row.entry.size ?? row.arrival?.size ?? 0)
        }
        let unknown = rows.count { $0.entry.kind == .folder && $0.arrival == nil }
        let words = rows.count == 1 ? "1 item" : "\(rows.count) items"
        let rest = unknown == 0 ? "" : ", without the contents of \(unknown == 1 ? "1 folder" : "\(unknown) folders")"
        return "\(words), \(ByteCount.text(bytes))\(rest)"
    }
}
