import Sharing
import Streams

/// The state of a handler while deliveries wait for it.
struct HandlerSlot {
    var program: HandlerProgram
    var queue = RetryLedger<ArrivalNumber>()
    /// From its launch until no delivery is ready for it any more.
    var isLaunched = false
    /// It gets no delivery before this, by the engine's clock.
    var notBefore: Duration?

    /// Whether it is called now.
    var isBusy: Bool { !queue.isIdle }
}
