package import Logging
package import Sharing
import Streams

/// Hands arrivals to handlers: each at least once, even if this process crashes.
///
/// The journal is authoritative; the engine only remembers for which handler each delivery waits. A handler gets one
/// call at a time, in the order of arrival; a few handlers run at once. A delivery whose handler asks for more time
/// does not hold up the deliveries behind it.
///
/// Everything happens in `run`, one event after another: `DeliveryLedger` decides, `DeliveryLoop` carries out. All other calls
/// only put an event into the mailbox.
package final class DeliveryEngine: Delivering {
    /// Number of hooks that run at the same time.
    package static let defaultPlaces = 4

    /// An event of the engine.
    enum Event: Sendable {
        case arrived([Arrival], @Sendable (Arrival, HandlerAnswer) -> Void)
        case followed([Arrival], @Sendable (Arrival, HandlerAnswer?) -> Void)
        case transferEnded(TransferID, PeerID)
        case called(DeliveryCall, CallResult)
        case handlersChanged
        case due
        case stop
        case retry(ArrivalNumber, CheckedContinuation<RetryAnswer, Never>)
        case open(AskedCall)
        case release(ArrivalNumber, Duration, CheckedContinuation<ReleaseAnswer, Never>)
        case ping(CheckedContinuation<Void, Never>)
    }

    /// The result of a request to deliver something again.
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
    let caller: any HandlerCalling
    let surroundings: DeliverySurroundings
    let places: Int
    let clock: DeliveryClock
    let logger: Logger
    let mailbox = Mailbox<Event>()
    /// Deliveries that an earlier run left.
    let leftovers: [WaitingDelivery]

    /// Reads the deliveries of an earlier run from the journal. Create the engine before anything new can arrive.
    ///
    /// - Parameter places: how many hooks run at the same time.
    package init(
        journal: any DeliveryJournal,
        caller: any HandlerCalling,
        surroundings: DeliverySurroundings,
        places: Int = defaultPlaces,
        clock: DeliveryClock = .system,
        logger: Logger
    ) {
        self.journal = journal
        self.caller = caller
        self.surroundings = surroundings
        self.places = places
        self.clock = clock
        self.logger = logger
        do {
            leftovers = try journal.waiting()
        } catch {
            logger.error("the waiting deliveries cannot be read", metadata: ["reason": "\(error)"])
            leftovers = []
        }
    }

    package func takes(_ facts: ArrivalFacts) -> Bool { surroundings.choice().takes(facts) }

    package func deliver(_ arrivals: [Arrival], answered: @escaping @Sendable (Arrival, HandlerAnswer) -> Void) {
        mailbox.post(.arrived(arrivals, answered))
    }

    package func follow(_ arrivals: [Arrival], answered: @escaping @Sendable (Arrival, HandlerAnswer?) -> Void) {
        mailbox.post(.followed(arrivals, answered))
    }

    package func transferEnded(_ transfer: TransferID, from peer: PeerID) {
        mailbox.post(.transferEnded(transfer, peer))
    }

    /// Chooses the handler of each delivery again.
    package func handlersChanged() { mailbox.post(.handlersChanged) }

    /// Delivers what can be opened now, in order, and holds what cannot be opened any more.
    package func lockChanged() { mailbox.post(.handlersChanged) }

    /// Restarts a delivery, even one that has a result.
    package func retry(_ number: ArrivalNumber) async -> RetryAnswer {
        await mailbox.ask(ifClosed: .fault("the receiver is stopping")) { .retry(number, $0) }
    }

    /// Returns when all events before this call are handled, and at once when the engine has ended.
    package func ping() async {
        await mailbox.ask(ifClosed: ()) { .ping($0) }
    }

    /// Delivers until the task is cancelled. Then it ends the running handlers, and calls them again at the next start.
    ///
    /// - Parameter executor: of threads that may block on the disk.
    package func run(on executor: (any TaskExecutor)? = nil) async {
        // Not a child: answers of handlers that are being ended are still recorded.
        let work = Task(executorPreference: executor) { await self.work() }
        await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            mailbox.post(.stop)
        }
    }

    private func work() async {
        var loop = DeliveryLoop(self)
        await withDiscardingTaskGroup { group in
            loop.start(&group)
            for await event in mailbox {
                loop.handle(event, &group)
                if loop.isStopping {
                    group.cancelAll()
                    if loop.isIdle { break }
                }
            }
            // Requests that came too late are answered, and begin nothing.
            mailbox.close()
            for await event in mailbox { loop.handle(event, &group) }
        }
        await caller.stop()
    }
}
