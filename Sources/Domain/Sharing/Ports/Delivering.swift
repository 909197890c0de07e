/// Delivers arrivals to handlers.
package protocol Delivering: Sendable {
    /// Whether any handler will be asked about such an item; decided without waiting.
    func takes(_ facts: ArrivalFacts) -> Bool
    /// Takes over arrivals that were recorded for delivery; returns at once.
    /// - Parameter answered: called for each when a handler has answered, from any thread: once, or with `later` any
    ///   number of times and then once. Never called for arrivals that still wait when the receiver stops.
    func deliver(_ arrivals: [Arrival], answered: @escaping @Sendable (Arrival, HandlerAnswer) -> Void)
    /// Hears the answers to arrivals that were taken over before, maybe by an earlier process; returns at once. The latest
    /// follower of an arrival takes the place of an earlier one.
    /// - Parameter answered: as in `deliver`; with nil for one that waits for no answer any more: the journal has it.
    func follow(_ arrivals: [Arrival], answered: @escaping @Sendable (Arrival, HandlerAnswer?) -> Void)
    /// No more items of this transfer will come.
    func transferEnded(_ transfer: TransferID, from peer: PeerID)
}
