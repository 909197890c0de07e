/// The receiver's parts that store the items of one transfer.
package struct ArrivalStorage: Sendable {
    let inbox: any InboxStoring
    let journal: any ArrivalJournal
    let unsettled: UnsettledResults
    let turn: CommitTurn
    /// The number of `turn.storings` that the verdict took into account.
    let storings: Int
    let isDelivered: @Sendable (ArrivalFacts) -> Bool

    /// - Parameters:
    ///   - unsettled: gets the results that the journal could not record.
    ///   - turn: shared with the peer's other transfers.
    ///   - storings: `turn.storings` when the receiver last checked which of the items are stored already.
    ///   - isDelivered: whether such an item is delivered to handlers.
    package init(
        _ inbox: any InboxStoring, _ journal: any ArrivalJournal,
        unsettled: UnsettledResults = UnsettledResults(), turn: CommitTurn = CommitTurn(), storings: Int = 0,
        isDelivered: @escaping @Sendable (ArrivalFacts) -> Bool
    ) {
        (self.inbox, self.journal, self.unsettled) = (inbox, journal, unsettled)
        (self.turn, self.storings) = (turn, storings)
        self.isDelivered = isDelivered
    }
}
