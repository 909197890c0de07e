import Inbox
import Lines
import Sharing

/// Lines of `waft inbox`.
extension EventLine {
    struct ArrivalName: Encodable {
        var arrival: Int64
        /// The name that was offered.
        var name: String
        /// The name it has in the Inbox.
        var stored: String
        var path: String

        init(_ arrival: Arrival) {
            (self.arrival, name) = (arrival.number.value, arrival.item.name.text)
            (stored, path) = (arrival.stored.name.text, arrival.stored.path)
        }
    }

    /// An item that has left the Inbox, by this command.
    struct DepartedItem: FieldGroups {
        private struct End: Encodable {
            var exit: WaftExit
            var reason: String?
        }

        var item: ArrivalName
        var exit: WaftExit
        /// A problem beside the success.
        var remark: String?

        var groups: [any Encodable] { [item, End(exit: exit, reason: remark)] }
    }

    /// An item that was moved out of the Inbox.
    struct Moved: FieldGroups {
        var item: DepartedItem
        /// Its new path.
        var toward: String

        var groups: [any Encodable] { [item, ["toward": toward]] }
    }

    struct Retried: Encodable {
        var arrival: Int64
    }

    struct Adopted: Encodable {
        var inbox: String
    }

    /// An item whose protection was changed, with its new path.
    struct Resealed: FieldGroups {
        var name: ArrivalName
        var protection: ProtectionClass

        var groups: [any Encodable] { [name, ["protection": protection.rawValue]] }
    }

    struct ChangedItem: Encodable {
        var arrival: Int64
        var stored: String
        var path: String
        /// `kind`, `size`, `entries`, `contents`, `mode`.
        var differences: [String]
        var reason: String?
        /// Time of the last change of the file.
        var touched: String?
    }

    struct LostItem: Encodable {
        var arrival: Int64
        var stored: String
        var path: String
        var reason: String?
    }

    /// An item that was named, and that is not expected in the Inbox.
    enum Absent: FieldGroups {
        case item(arrival: Int64, stored: String, reason: String)
        /// The word names no item.
        case wanted(String, reason: String)

        var groups: [any Encodable] {
            switch self {
            case .item(let number, let stored, let reason):
                [["arrival": number], ["stored": stored, "reason": reason]]
            case .wanted(let word, let reason): [["wanted": word, "reason": reason]]
            }
        }
    }

    /// The counts of a verification.
    struct Verified: Encodable {
        var ok: Int
        var changed: Int
        var missing: Int
        var unreadable: Int
        /// Of the good ones, those of which only the sealed form was compared; absent for none.
        var locked: Int?
        /// Of the good ones, those that were compared by a checksum only; absent for none.
        var summed: Int?
        var exit: WaftExit
    }

    /// The line for a finding of a verification; nil for an item that is as it arrived.
    init?(_ finding: ItemFinding, of arrival: Arrival) {
        let (number, stored, path) = (arrival.number.value, arrival.stored.name.text, arrival.stored.path)
        let reason = finding.detail.isEmpty ? nil : finding.detail
        switch finding.state {
        case .ok: return nil
        case .changed:
            let touched = finding.touched.map { ISOTime.text(WallTime(milliseconds: $0.seconds &* 1_000)) }
            self = .changed(
                ChangedItem(
                    arrival: number, stored: stored, path: path, differences: finding.differences.map(\.rawValue),
                    reason: reason, touched: touched))
        case .missing: self = .missing(LostItem(arrival: number, stored: stored, path: path, reason: reason))
        case .unreadable: self = .unreadable(LostItem(arrival: number, stored: stored, path: path, reason: reason))
        }
    }
}
