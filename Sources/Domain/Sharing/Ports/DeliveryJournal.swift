/// The deliveries to handlers, across crashes. Calls may block on the disk.
package protocol DeliveryJournal: Sendable {
    /// All deliveries of settled arrivals that are not finished, by number.
    func waiting() throws(JournalError) -> [WaitingDelivery]
    /// - Returns: nil for a number that is unknown or not settled.
    func arrival(_ number: ArrivalNumber) throws(JournalError) -> Arrival?
    /// Whether the item at an arrival's path is that of the arrival, as far as the journal knows: it has not left, and
    /// no later arrival has its path. False for a number that is unknown or not settled.
    func isThere(_ number: ArrivalNumber) throws(JournalError) -> Bool
    /// Records that a handler is about to be called for these, in one transaction that is on the disk when this
    /// returns.
    /// - Parameters:
    ///   - handler: its identifier.
    ///   - isAsked: whether a person has asked for this call, of this handler.
    /// - Returns: for each the number of the attempt, 1 and up.
    func began(
        _ numbers: [ArrivalNumber], handler: String, isAsked: Bool, at time: WallTime
    ) throws(JournalError) -> [Int]
    /// Records the end of that call and the next step, in one transaction.
    func ended(
        _ numbers: [ArrivalNumber], _ outcome: AttemptOutcome, next: DeliveryStep, at time: WallTime
    ) throws(JournalError)
    /// Ends deliveries for which no handler is asked (any more).
    func end(_ numbers: [ArrivalNumber], as state: DeliveryState) throws(JournalError)
    /// Records that these have left the Inbox, in one transaction; their waiting deliveries are over. An arrival that
    /// has left already keeps its first departure.
    /// - Returns: those that had not left before.
    @discardableResult
    func departed(_ numbers: [ArrivalNumber], _ departure: Departure) throws(JournalError) -> [ArrivalNumber]
    /// Restarts a finished or parked delivery at a person's request: due now, with no refusals.
    /// - Returns: nil for a number that is unknown or not settled.
    func retry(_ number: ArrivalNumber, at time: WallTime) throws(JournalError) -> WaitingDelivery?
}

extension DeliveryJournal {
    /// Records that a handler is about to be called, by the usual delivery.
    package func began(
        _ numbers: [ArrivalNumber], handler: String, at time: WallTime
    ) throws(JournalError) -> [Int] {
        try began(numbers, handler: handler, isAsked: false, at: time)
    }
}
