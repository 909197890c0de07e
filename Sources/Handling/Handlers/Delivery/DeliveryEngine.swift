package import Logging
package import Sharing
import Streams

/// Hands arrivals to handlers: each at least once, even if this process crashes.
///
/// The journal is authoritative; the engine only remembers for which handler each delivery waits. A handler gets one
/// call at a time, in the order of arrival; a few handlers run at once. A delivery whose handler asks for more time
/// does not hold up the deliveries behind it.
///
/// Everything happens in `run`, one event after another; all other calls only put an event into its mailbox.
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
        case release(ArrivalNumber, Duration, ReleasedItems.Answer)
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
    private let choosing: @Sendable () -> HandlerChoice
    let caller: any HandlerCalling
    let subject: @Sendable (Arrival) -> HandlerChoice.Subject
    let observe: @Sendable (Arrival, HandlerAnswer) -> Void
    let left: @Sendable (Arrival, Departure) -> Void
    let isInboxThere: @Sendable () -> Bool
    let findAgain: @Sendable (Arrival) -> Arrival?
    /// Opens sealed items; nil if there are none.
    let copies: (any ClearCopying)?
    let places: Int
    let clock: DeliveryClock
    let logger: Logger
    let mailbox = Mailbox<Event>()
    /// Deliveries that an earlier run left.
    let leftovers: [WaitingDelivery]

    /// Reads the deliveries of an earlier run from the journal. Create the engine before anything new can arrive.
    ///
    /// - Parameters:
    ///   - choice: asked for at each use.
    ///   - subject: the facts for the choice of a handler, for an arrival; may read the disk.
    ///   - isInboxThere: whether the Inbox's disk is mounted. If not, deliveries wait, because a missing item may not
    ///     have left the Inbox.
    ///   - findAgain: looks for an item that is not at its place: its user may have given it another one in the Inbox.
    ///   - copies: tells which sealed items can be opened; nil if there are none.
    ///   - observe: gets the answers about deliveries of an earlier run, which have no other listener.
    ///   - left: called for each item that a handler took out of the Inbox.
    ///   - places: how many hooks run at the same time.
    package init(
        journal: any DeliveryJournal,
        choice: @escaping @autoclosure @Sendable () -> HandlerChoice,
        caller: any HandlerCalling,
        subject: @escaping @Sendable (Arrival) -> HandlerChoice.Subject,
        observe: @escaping @Sendable (Arrival, HandlerAnswer) -> Void = { _, _ in },
        left: @escaping @Sendable (Arrival, Departure) -> Void = { _, _ in },
        isInboxThere: @escaping @Sendable () -> Bool = { true },
        findAgain: @escaping @Sendable (Arrival) -> Arrival? = { _ in nil },
        copies: (any ClearCopying)? = nil,
        places: Int = defaultPlaces,
        clock: DeliveryClock = .system,
        logger: Logger
    ) {
        self.journal = journal
        choosing = choice
        self.caller = caller
        self.subject = subject
        self.observe = observe
        self.left = left
        self.isInboxThere = isInboxThere
        self.findAgain = findAgain
        self.copies = copies
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

    var choice: HandlerChoice { choosing() }

    /// Whether an item can be opened now.
    func canOpen(_ protection: ProtectionClass) -> Bool {
        !protection.isSealed || copies?.canOpen(protection) ?? false
    }

    package func takes(_ facts: ArrivalFacts) -> Bool { choice.takes(facts) }

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
                loop.handle(event)
                if loop.isStopping {
                    group.cancelAll()
                    if loop.isIdle { break }
                } else {
                    loop.dispatch(&group)
                }
            }
        }
        mailbox.close()
        for await event in mailbox { loop.handle(event) }
        await caller.stop()
    }
}
