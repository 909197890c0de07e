/// How an item left the Inbox, as far as Waft has seen it.
package struct Departure: Hashable, Sendable {
    package enum How: String, Sendable, Codable, CaseIterable {
        /// Moved out by `waft inbox take`.
        case taken
        /// Deleted by `waft inbox remove`.
        case removed
        /// It was gone after a call of a handler.
        case handler
    }

    package var how: How
    package var time: WallTime
    /// The absolute path of its new place, or the identifier of the handler; empty if there is neither.
    package var toward: String

    package init(_ how: How, at time: WallTime, toward: String = "") {
        self.how = how
        self.time = time
        self.toward = toward
    }
}
