package import Sharing

/// An item of the Inbox in a line.
package struct ItemName: Codable, Equatable, Sendable {
    package var arrival: Int64
    /// The name that was offered.
    package var name: String
    /// The name it has in the Inbox.
    package var stored: String
    package var path: String

    package init(_ arrival: Arrival) {
        (self.arrival, name) = (arrival.number.value, arrival.item.name.text)
        (stored, path) = (arrival.stored.name.text, arrival.stored.path)
    }
}

/// Something in the Inbox: an item, or an entry that another program made.
package struct EntryLine: Line {
    package static let event = "entry"

    /// The name that it has in the Inbox.
    package var stored: String
    package var path: String
    /// `ItemKind`, or `link` or `other` for an entry that is no item.
    package var kind: String
    package var size: UInt64?
    package var modified: LineTime
    /// When it arrived; absent for an entry that another program made.
    package var arrived: LineTime?
    package var mark: String?
    /// How it is sealed: `unlessOpen` and others; absent for an item that is not.
    package var protection: String?
    /// Of an item that the journal knows: its number, the name that was offered, its type, and the sender.
    package var arrival: Int64?
    package var name: String?
    package var type: String?
    package var from: PersonFields?
    /// Its name, or its path below the Inbox.
    @Unsaid package var shownName: String
    /// `file`, `folder`, `link` or `other`: what is on the disk.
    @Unsaid package var form: String
    /// Bytes of a file as it is, or of an item as it arrived; nil for an unknown number.
    @Unsaid package var bytes: UInt64? = nil
    /// The dialect in which it arrived.
    @Unsaid package var via: String? = nil

    package init(stored: String, path: String, kind: String, form: String, shownName: String, modified: LineTime) {
        (self.stored, self.path, self.kind, self.modified) = (stored, path, kind, modified)
        (self.form, self.shownName) = (form, shownName)
    }
}

// MARK: - Departures

/// How the departure of an item went.
private struct DepartureEnd: Encodable {
    var exit = WaftExit.done
    var reason: String?

    /// - Parameter remarks: problems beside the success.
    init(_ remarks: [String]) {
        if !remarks.isEmpty { (exit, reason) = (.unexpected, remarks.joined(separator: "; ")) }
    }
}

/// The user has moved an item out of the Inbox.
package struct TakenLine: Line {
    package static let event = "taken"

    package let item: ItemName
    /// Its new path.
    package let toward: String
    /// Problems beside the success.
    package let remarks: [String]

    package init(_ item: ItemName, toward: String, remarks: [String] = []) {
        (self.item, self.toward, self.remarks) = (item, toward, remarks)
    }

    package func encode(to encoder: any Encoder) throws {
        try item.encode(to: encoder)
        try DepartureEnd(remarks).encode(to: encoder)
        try ["toward": toward].encode(to: encoder)
    }
}

/// The user has deleted an item.
package struct RemovedLine: Line {
    package static let event = "removed"

    package let item: ItemName
    /// Whether it was gone before; then it is only forgotten.
    package let wasGone: Bool
    /// Problems beside the success.
    package let remarks: [String]

    package init(_ item: ItemName, wasGone: Bool = false, remarks: [String] = []) {
        (self.item, self.wasGone, self.remarks) = (item, wasGone, remarks)
    }

    package func encode(to encoder: any Encoder) throws {
        try item.encode(to: encoder)
        try DepartureEnd(remarks).encode(to: encoder)
    }
}

// MARK: - Changes

/// An item was given to its handlers again.
package struct RetriedLine: Line {
    package static let event = "retried"

    package let arrival: Int64
    @Unsaid package var stored: String

    package init(_ item: ItemName) { (arrival, stored) = (item.arrival, item.stored) }
}

/// A folder is the Inbox now.
package struct AdoptedLine: Line {
    package static let event = "adopted"

    package let inbox: String

    package init(inbox: String) { self.inbox = inbox }
}

/// The protection of an item was changed.
package struct ResealedLine: Line {
    package static let event = "resealed"

    /// With its new path.
    package let item: ItemName
    package let protection: ProtectionClass

    package init(_ arrival: Arrival) { (item, protection) = (ItemName(arrival), arrival.protection) }

    package func encode(to encoder: any Encoder) throws {
        try item.encode(to: encoder)
        try ["protection": protection.rawValue].encode(to: encoder)
    }
}

// MARK: - Verification

/// An item that is not as it arrived.
package struct ChangedLine: Line {
    package static let event = "changed"

    package let arrival: Int64
    package let stored: String
    package let path: String
    /// `kind`, `size`, `entries`, `contents`, `mode`.
    package let differences: [String]
    package let reason: String?
    /// Time of the last change of the file.
    package let touched: LineTime?

    package init(_ item: ItemName, differences: [String], reason: String?, touched: LineTime?) {
        (arrival, stored, path) = (item.arrival, item.stored, item.path)
        (self.differences, self.reason, self.touched) = (differences, reason, touched)
    }
}

/// An item that another program moved or deleted.
package struct MissingLine: Line {
    package static let event = "missing"

    package let arrival: Int64
    package let stored: String
    package let path: String
    package let reason: String?

    package init(_ item: ItemName, reason: String?) {
        (arrival, stored, path, self.reason) = (item.arrival, item.stored, item.path, reason)
    }
}

/// An item that cannot be read.
package struct UnreadableLine: Line {
    package static let event = "unreadable"

    package let arrival: Int64
    package let stored: String
    package let path: String
    package let reason: String?

    package init(_ item: ItemName, reason: String?) {
        (arrival, stored, path, self.reason) = (item.arrival, item.stored, item.path, reason)
    }
}

/// An item that the user has named, and that is not expected in the Inbox.
package struct AbsentLine: Line {
    package static let event = "absent"

    package private(set) var arrival: Int64?
    package private(set) var stored: String?
    /// The word that names no item.
    package private(set) var wanted: String?
    package let reason: String

    package init(wanted: String, reason: String) { (self.wanted, self.reason) = (wanted, reason) }

    package init(_ item: ItemName, reason: String) {
        (arrival, stored, self.reason) = (item.arrival, item.stored, reason)
    }
}

/// The counts of a verification.
package struct VerifiedLine: Line {
    package static let event = "verified"

    package var ok = 0
    package var changed = 0
    package var missing = 0
    package var unreadable = 0
    /// Of the good ones, those of which only the sealed form was compared; absent for none.
    package var locked: Int?
    /// Of the good ones, those that were compared by a checksum only; absent for none.
    package var summed: Int?
    /// The code for the first finding.
    package var exit = WaftExit.done

    package init() {}
}
