package import Sharing

/// The parts of a receiver that the delivery engine asks and tells. All may be called from any thread.
package struct DeliverySurroundings: Sendable {
    /// The current handlers.
    package var choice: @Sendable () -> HandlerChoice
    /// The facts for the choice of a handler, for an arrival; may read the disk.
    package var subject: @Sendable (Arrival) -> HandlerChoice.Subject
    /// Gets the answers about deliveries of an earlier run, which have no other listener.
    package var observe: @Sendable (Arrival, HandlerAnswer) -> Void
    /// Called for each item that a handler took out of the Inbox.
    package var left: @Sendable (Arrival, Departure) -> Void
    /// Whether the Inbox's disk is mounted. If not, deliveries wait, because a missing item may not have left the Inbox.
    package var isInboxThere: @Sendable () -> Bool
    /// Looks for an item that is not at its place: its user may have given it another one in the Inbox.
    package var findAgain: @Sendable (Arrival) -> Arrival?
    /// Opens sealed items; nil if there are none.
    package var copies: (any ClearCopying)?

    /// - Parameters: as the properties say.
    package init(
        choice: @escaping @autoclosure @Sendable () -> HandlerChoice,
        subject: @escaping @Sendable (Arrival) -> HandlerChoice.Subject,
        observe: @escaping @Sendable (Arrival, HandlerAnswer) -> Void = { _, _ in },
        left: @escaping @Sendable (Arrival, Departure) -> Void = { _, _ in },
        isInboxThere: @escaping @Sendable () -> Bool = { true },
        findAgain: @escaping @Sendable (Arrival) -> Arrival? = { _ in nil },
        copies: (any ClearCopying)? = nil
    ) {
        self.choice = choice
        self.subject = subject
        self.observe = observe
        self.left = left
        self.isInboxThere = isInboxThere
        self.findAgain = findAgain
        self.copies = copies
    }
}
