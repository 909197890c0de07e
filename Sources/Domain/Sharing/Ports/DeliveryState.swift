/// The progress of the delivery of an arrival to handlers.
package enum DeliveryState: String, Sendable, Codable, CaseIterable {
    /// There was no handler for it on arrival, or no handler may get it (a liar).
    case none
    /// A handler will be asked, or is being asked.
    case waiting
    /// A handler said yes.
    case yes
    /// Every handler that was asked said no.
    case no
    /// A handler failed: it could not be started, or its exit code has no meaning.
    case failed
    /// Handlers asked for more time for a whole day: no handler is asked until a person retries.
    case parked
    /// It was gone from the Inbox before a handler could be asked.
    case gone
}

/// An unfinished delivery in the journal.
package struct WaitingDelivery: Hashable, Sendable {
    package var number: ArrivalNumber
    package var transfer: TransferID
    package var peer: PeerID
    /// Not before this.
    package var due: WallTime
    /// The first time a handler asked for more time; nil if none has.
    package var deferredSince: WallTime?
    /// The number of times a handler has asked for more time since then.
    package var deferrals: Int
    /// Attempts begun so far, of all handlers.
    package var attempts: Int
    /// Identifiers of the handlers that said no.
    package var refusedBy: [String]

    package init(
        number: ArrivalNumber,
        transfer: TransferID,
        peer: PeerID,
        due: WallTime,
        deferredSince: WallTime? = nil,
        deferrals: Int = 0,
        attempts: Int = 0,
        refusedBy: [String] = []
    ) {
        self.number = number
        self.transfer = transfer
        self.peer = peer
        self.due = due
        self.deferredSince = deferredSince
        self.deferrals = deferrals
        self.attempts = attempts
        self.refusedBy = refusedBy
    }
}
