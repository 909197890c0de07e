/// A difference between the sent and the stored items: one entry was left out or renamed.
package struct EntryRemark: Equatable, Sendable {
    /// The sender's name of the entry. Foreign text.
    package let entry: String
    /// One clause: `left out: the link leads out of its folder`.
    package let reason: String

    package init(entry: String, reason: String) {
        (self.entry, self.reason) = (entry, reason)
    }
}

/// The remarks on one transfer: the first ones, and the number of the others.
package struct RemarkList {
    private static let shown = 20
    /// Maximum characters of an entry.
    private static let entryLength = 200

    private var first: [EntryRemark] = []
    private var others = 0

    package init() {}

    /// The listed remarks; a last one counts the others.
    package var all: [EntryRemark] {
        others == 0 ? first : first + [EntryRemark(entry: "\(others) more", reason: "left out or renamed")]
    }

    package mutating func leftOut(_ entry: String, _ reason: some CustomStringConvertible) {
        add(entry, "left out: \(reason)")
    }

    package mutating func renamed(_ entry: String, _ name: String) {
        add(entry, "stored as \(PathText.printable(name, limit: Self.entryLength))")
    }

    private mutating func add(_ entry: String, _ reason: String) {
        guard first.count < Self.shown else {
            others += 1
            return
        }
        first.append(EntryRemark(entry: PathText.printable(entry, limit: Self.entryLength), reason: reason))
    }
}
