package import Sharing

/// Selects the arrivals that a list shows.
package struct ArrivalFilter: Sendable {
    /// Earliest time of arrival; nil for any.
    package var since: WallTime?
    package var state: DeliveryState?
    /// A further condition, called only for entries that meet the other conditions.
    package var matches: @Sendable (JournalEntry) -> Bool

    package init(
        since: WallTime? = nil, state: DeliveryState? = nil,
        matches: @escaping @Sendable (JournalEntry) -> Bool = { _ in true }
    ) {
        self.since = since
        self.state = state
        self.matches = matches
    }

    /// Shows every arrival.
    package static let all = ArrivalFilter()
}
