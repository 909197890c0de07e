package import Sharing

/// Which arrivals a list shows.
package struct ArrivalFilter: Sendable {
    /// Only those that arrived then or later.
    package var since: WallTime?
    package var state: DeliveryState?
    /// Called for those that pass the other conditions.
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
