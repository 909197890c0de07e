package import Logging
package import Sharing

/// Hands arrivals to handlers: each at least once, whatever happens to this process.
///
/// What the journal says is what counts; the engine holds in memory whom each delivery waits for. One handler is asked
/// about one thing at a time, in the order in which things arrived; a few handlers at once. A delivery whose handler asks
/// for more time does not hold up those behind it.
///
/// Everything happens in `run`, one event after another; all other calls only put an event into its mailbox.
package final class DeliveryEngine: Delivering {
    /// Hooks that run at the same time.
    package static let defaultPlaces = 4

    /// What happens to it.
    enum Event: Sendable {
        case arrived([Arrival], @Sendable (Arrival, HandlerAnswer) -> Void)
        case transferEnded(TransferID, PeerID)
        case called(DeliveryCall, CallResult)
        case handlersChanged
        case due
        case stop
        case retry(ArrivalNumber, CheckedContinuation<RetryAnswer, Never>)
        case release(ArrivalNumber, Duration, ReleasedItems.Answer)
    }

    /// What became of a request to deliver something again.
    package enum RetryAnswer: Sendable, Equatable {
        case begun
        /// No such arrival.
        case unknown
        /// It is not in the Inbox any more.
        case left
        /// It is being delivered just now.
        case underWay
        /// One line.
        case fault(String)
    }

    let journal: any DeliveryJournal
    let choice: HandlerChoice
    let caller: any HandlerCalling
    let subject: @Sendable (Arrival) -> HandlerChoice.Subject
    let observe: @Sendable (Arrival, HandlerAnswer) -> Void
    let left: @Sendable (Arrival, Departure) -> Void
    let isInboxThere: @Sendable () -> Bool
    let places: Int
    let clock: DeliveryClock
    let logger: Logger
    let inlet: AsyncStream<Event>.Continuation
    /// What an earlier run left.
    let leftovers: [WaitingDelivery]
    private let events: AsyncStream<Event>

    /// Reads what an earlier run left from the journal: to be made before anything new can arrive.
    ///
    /// - Parameters:
    ///   - subject: what the choice of a handler depends on, for an arrival; may read the disk.
    ///   - isInboxThere: whether the Inbox's disk is mounted. If not, deliveries wait, because a missing item may not
    ///     have left the Inbox.
    ///   - observe: hears the answers about what an earlier run left, about which nobody else waits to hear.
    ///   - left: called for each item that a handler took out of the Inbox.
    ///   - places: how many hooks run at the same time.
    package init(
        journal: any DeliveryJournal,
        choice: HandlerChoice,
        caller: any HandlerCalling,
        subject: @escaping @Sendable (Arrival) -> HandlerChoice.Subject,
        observe: @escaping @Sendable (Arrival, HandlerAnswer) -> Void = { _, _ in },
        left: @escaping @Sendable (Arrival, Departure) -> Void = { _, _ in },
        isInboxThere: @escaping @Sendable () -> Bool = { true },
        places: Int = defaultPlaces,
        clock: DeliveryClock = .system,
        logger: Logger
    ) {
        self.journal = journal
        self.choice = choice
        self.caller = caller
        self.subject = subject
        self.observe = observe
        self.left = left
        self.isInboxThere = isInboxThere
        self.places = places
        self.clock = clock
        self.logger = logger
        (events, inlet) = AsyncStream.makeStream()
        do {
            leftovers = try journal.waiting()
        } catch {
            logger.error("the waiting deliveries cannot be read", metadata: ["reason": "\(error)"])
            leftovers = []
        }
    }

    package func takes(_ facts: ArrivalFacts) -> Bool { choice.takes(facts) }

    package func deliver(_ arrivals: [Arrival], answered: @escaping @Sendable (Arrival, HandlerAnswer) -> Void) {
        inlet.yield(.arrived(arrivals, answered))
    }

    package func transferEnded(_ transfer: TransferID, from peer: PeerID) {
        inlet.yield(.transferEnded(transfer, peer))
    }

    /// Looks anew whom each delivery is for.
    package func handlersChanged() { inlet.yield(.handlersChanged) }

    /// Begins a delivery anew, whatever had become of it.
    package func retry(_ number: ArrivalNumber) async -> RetryAnswer {
        await withCheckedContinuation { continuation in
            if case .terminated = inlet.yield(.retry(number, continuation)) {
                continuation.resume(returning: .fault("the receiver is stopping"))
            }
        }
    }

    /// Delivers until the task is cancelled; then the handlers that run are ended, and asked again at the next start.
    ///
    /// - Parameter executor: of threads that may block on the disk.
    package func run(on executor: (any TaskExecutor)? = nil) async {
        // Not a child: what handlers say while they are being ended is still written down.
        let work = Task(executorPreference: executor) { await self.work() }
        await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            inlet.yield(.stop)
        }
    }

    private func work() async {
        var loop = DeliveryLoop(self)
        await withDiscardingTaskGroup { group in
            loop.start(&group)
            for await event in events {
                loop.handle(event)
                if loop.isStopping {
                    group.cancelAll()
                    if loop.isIdle { break }
                } else {
                    loop.dispatch(&group)
                }
            }
        }
        inlet.finish()
        for await event in events { loop.handle(event) }
        await caller.stop()
    }
}
