package import Logging
import Sharing
import Synchronization

/// Sends what lies in the outbox, for as long as it takes.
///
/// What the disk says is what counts: each step of a job is there before it is gone on. Everything happens in `run`, one
/// event after another; all other calls only put an event into its mailbox.
package final class OutboxEngine: Sendable {
    /// What happens to it.
    enum Event: Sendable {
        case lookAgain
        case appeared(OutboxAppearance)
        case ended(JobNumber, OutboxResult)
        case reported(JobNumber)
        case due
        case cutOff(JobNumber)
        case stop
        case cancel(JobNumber, CheckedContinuation<OutboxError?, Never>)
        case retry(JobNumber, CheckedContinuation<OutboxError?, Never>)
    }

    /// How much there is to do.
    package struct Summary: Sendable, Equatable {
        package var waiting = 0
        package var sending = 0
        package var failed = 0
    }

    let store: OutboxStore
    let sender: any OutboxSending
    let places: Int
    let clock: OutboxClock
    /// By which jobs are given up and forgotten.
    let calendar: CautiousClock
    let report: @Sendable (OutboxStore.Record) async -> Void
    let logger: Logger
    let inlet: AsyncStream<Event>.Continuation
    private let events: AsyncStream<Event>
    private let standing = Mutex(Summary())
    let board = OutboxProgressBoard()

    /// - Parameters:
    ///   - places: jobs that are sent at once; to one peer one after another.
    ///   - report: tells the user that a job is done or given up. Called for each, at least once: again after a crash
    ///     before it has returned.
    package init(
        store: OutboxStore,
        sender: any OutboxSending,
        places: Int = OutboxLimits.places,
        clock: OutboxClock = .system,
        report: @escaping @Sendable (OutboxStore.Record) async -> Void,
        logger: Logger
    ) {
        self.store = store
        self.sender = sender
        self.places = places
        self.clock = clock
        calendar = CautiousClock(wall: clock.now, steady: clock.uptime, settling: clock.settling)
        self.report = report
        self.logger = logger
        (events, inlet) = AsyncStream.makeStream()
    }

    package var summary: Summary { standing.withLock { $0 } }

    /// Of the jobs that are being sent, as far as something of them has moved.
    package var progress: [OutboxProgress] { board.all }

    func show(_ summary: Summary) { standing.withLock { $0 = summary } }

    /// Looks what has come into the outbox.
    package func lookAgain() { inlet.yield(.lookAgain) }

    /// Cancels a job, also one that is being sent: then the peer is told.
    /// - Returns: why that is not done; nil where it is.
    package func cancel(_ number: JobNumber) async -> OutboxError? {
        await ask { .cancel(number, $0) }
    }

    /// Tries a job again at once, also one that was given up.
    /// - Returns: why that is not done; nil where it is.
    package func retry(_ number: JobNumber) async -> OutboxError? {
        await ask { .retry(number, $0) }
    }

    private func ask(_ event: (CheckedContinuation<OutboxError?, Never>) -> Event) async -> OutboxError? {
        await withCheckedContinuation { continuation in
            if case .terminated = inlet.yield(event(continuation)) {
                continuation.resume(returning: Self.stopping)
            }
        }
    }

    static let stopping = OutboxError(.unfit, "the receiver is stopping")

    /// Sends until the task is cancelled; then what is under way is broken off, and taken up again at the next start.
    ///
    /// - Parameter executor: of threads that may block on the disk.
    package func run(on executor: (any TaskExecutor)? = nil) async {
        // Not a child: how the attempts end that are broken off is still written down.
        let work = Task(executorPreference: executor) { await self.work(executor) }
        await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            inlet.yield(.stop)
        }
    }

    private func work(_ executor: (any TaskExecutor)?) async {
        var loop = OutboxLoop(self, executor)
        await withDiscardingTaskGroup { group in
            loop.start(&group)
            for await event in events {
                loop.handle(event, &group)
                if loop.isStopping {
                    if loop.isIdle { break }
                } else {
                    loop.dispatch(&group)
                }
            }
            group.cancelAll()
        }
        inlet.finish()
        for await event in events { loop.turnAway(event) }
    }
}
