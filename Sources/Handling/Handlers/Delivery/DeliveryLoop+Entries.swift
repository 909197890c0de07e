import Sharing

extension DeliveryLoop {
    typealias Answered = @Sendable (Arrival, HandlerAnswer) -> Void

    /// A delivery that is not finished.
    struct Entry {
        var delivery: WaitingDelivery
        /// The arrival that stored the item; see `Arrival.holder`.
        var holder: ArrivalNumber
        var subject: HandlerChoice.Subject
        var candidate: HandlerChoice.Candidate?
        var answered: Answered
        /// The end of its wait, by the engine's clock.
        var notBefore: Duration?
        var isUnderWay = false
        /// Whether its sender knows that it is locked.
        var isHeld = false
        /// Whether its sender knows that the program of its handler is missing.
        var isSuspended = false
        /// Whether its protection may be another one than `subject` says.
        var isStale = false
        /// When its handler got it, by the engine's clock.
        var begun: Duration = .zero
        /// The call that a person asked for; nil for the usual delivery.
        var asked: Asked?
    }

    /// A call that a person asked for, and the delivery that goes on after it.
    struct Asked {
        var call: AskedCall
        var delivery: WaitingDelivery?
        var notBefore: Duration?
        /// Of the delivery.
        var answered: Answered
    }

    /// The state of a handler while deliveries wait for it.
    struct Desk {
        var program: HandlerProgram
        var queue = DeliveryQueue()
        var isBusy = false
        /// From its launch until no delivery is ready for it any more.
        var isLaunched = false
        /// It gets no delivery before this, by the engine's clock.
        var notBefore: Duration?
    }
}
