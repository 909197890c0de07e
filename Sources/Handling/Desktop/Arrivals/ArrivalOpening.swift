package import Sharing

/// The work of the buttons of a notification about arrivals.
package protocol ArrivalOpening: Sendable {
    /// Whether an item may be opened on the desktop. May read the disk.
    func canOpen(_ arrival: Arrival) -> Bool
    /// Opens an item on the desktop.
    /// - Returns: the reason for people if it was not opened.
    func open(_ arrival: Arrival) async -> String?
    /// Whether the user can choose the application for an item. Must return soon.
    func canChoose(for arrival: Arrival) async -> Bool
    /// Lets the user choose the application for an item.
    /// - Returns: the reason for people if no choice is offered.
    func choose(for arrival: Arrival) async -> String?
    /// Shows items in the file manager.
    /// - Parameter arrivals: at least one.
    /// - Returns: the reason for people if they are not shown.
    func show(_ arrivals: [Arrival]) async -> String?
}
