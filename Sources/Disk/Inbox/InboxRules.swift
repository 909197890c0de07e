package import Sharing
import Synchronization

/// The rules of an Inbox that can change while it is open.
package struct InboxRules: Sendable {
    /// The part of the disk that is neither offered to senders nor used by unannounced contents.
    package var reserve: DiskReserve
    /// The rule for an item whose name is taken.
    package var conflict: ConflictRule
    /// Bounds for the kept parts of interrupted items.
    package var partials: PartialBounds

    package init(reserve: DiskReserve, conflict: ConflictRule, partials: PartialBounds) {
        (self.reserve, self.conflict, self.partials) = (reserve, conflict, partials)
    }
}

/// The rules that count now.
final class CurrentRules: Sendable {
    private let rules: Mutex<InboxRules>

    init(_ rules: InboxRules) {
        self.rules = Mutex(rules)
    }

    var now: InboxRules {
        get { rules.withLock { $0 } }
        set { rules.withLock { $0 = newValue } }
    }
}
