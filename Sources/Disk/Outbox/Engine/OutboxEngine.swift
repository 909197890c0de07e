package import Logging
package import Sharing
import Streams
import Synchronization

/// Sends the jobs of the outbox until it is cancelled.
///
/// The disk holds the valid state: each step of a job is on the disk before the next one begins. All work happens in
/// `run`, one event after another; all other calls only put an event into its mailbox.
package final class OutboxEngine: Sendable {
    /// The events that the engine handles.
    enum Event: Sendable {
        case lookAgain
        case appeared(OutboxAppearance)
        case ended(JobNumber, OutboxResult)
        /// - Parameter isSuperseded: whether the job has another state than the reported one.
        case reported(JobNumber, isSuperseded: Bool)
        case due
        /// The time for the notice to the peer of a cancelled job is over.
        case farewellIsOver(JobNumber)
        case stop
        case cancel(JobNumber, CheckedContinuation<OutboxError?, Never>)
        case retry(JobNumber, CheckedContinuation<OutboxError?, Never>)
    }

    /// The numbers of jobs by state.
    package struct Summary: Sendable, Equatable {
        package var waiting = 0
        package var sending = 0
        package var failed = 0
    }

    let store: OutboxStore
    let sender: any OutboxSending
    let places: Int
    let clock: OutboxClock
    /// The clock for giving up and forgetting jobs.
    let calendar: CautiousClock
    let report: @Sendable (OutboxStore.Record) async -> Void
    let logger: Logger
    let mailbox = Mailbox<Event>()
    private let standing = Mutex(Summary())
    let board = OutboxProgressBoard()

    /// - Parameters:
    ///   - places: maximum number of jobs sent at once; jobs for one peer are sent one after another.
    ///   - report: tells the user that a job is done or given up. Called at least once for each: again if the program
    ///     ends before it returns.
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
    }

    package var summary: Summary { standing.withLock { $0 } }

    /// The progress of the jobs that are being sent and have reported some.
    package var progress: [OutboxProgress] { board.all }

    func show(_ summary: Summary) { standing.withLock { $0 = summary } }

    /// Looks for new jobs in the outbox.
    package func lookAgain() { mailbox.post(.lookAgain) }

    /// Cancels a job, also one that is being sent; in that case the engine notifies the peer.
    /// - Returns: why the job cannot be cancelled; nil on success.
    package func cancel(_ number: JobNumber) async -> OutboxError? {
        await mailbox.ask(ifClosed: Self.stopping) { .cancel(number, $0) }
    }

    /// Tries a job again at once, also one that was given up.
    /// - Returns: why the job cannot be tried again; nil on success.
    package func retry(_ number: JobNumber) async -> OutboxError? {
        await mailbox.ask(ifClosed: Self.stopping) { .retry(number, $0) }
    }

    static let stopping = OutboxError(.unfit, "the receiver is stopping")

    /// Sends until the task is cancelled. Attempts under way are then broken off, and the next start resumes them.
    ///
    /// - Parameter executor: of threads that may block on the disk.
    package func run(on executor: (any TaskExecutor)? = nil) async {
        // Not a child task: the ends of the attempts that are broken off must still be recorded.
        let work = Task(executorPreference: executor) { await self.work(executor) }
        await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            mailbox.post(.stop)
        }
    }

    private func work(_ executor: (any TaskExecutor)?) async {
        var loop = OutboxLoop(self, executor)
        await withDiscardingTaskGroup { group in
            loop.start(&group)
            for await event in mailbox {
                loop.handle(event, &group)
                if loop.isStopping, loop.isIdle { break }
            }
            group.cancelAll()
        }
        mailbox.close()
        for await event in mailbox { loop.turnAway(event) }
    }
}

/// The clocks and the timer of the outbox. Tests supply their own.
package struct OutboxClock: Sendable {
    /// The wall clock, for recorded times.
    package var now: @Sendable () -> WallTime
    /// The time since a fixed moment; changes of the wall clock do not affect it.
    package var uptime: @Sendable () -> Duration
    package var sleep: @Sendable (Duration) async throws -> Void
    /// The time after which the wall clock is trusted for giving up and forgetting jobs.
    package var settling: Duration

    package init(
        now: @escaping @Sendable () -> WallTime,
        uptime: @escaping @Sendable () -> Duration,
        sleep: @escaping @Sendable (Duration) async throws -> Void,
        settling: Duration = CautiousClock.settling
    ) {
        self.now = now
        self.uptime = uptime
        self.sleep = sleep
        self.settling = settling
    }

    /// The clocks of the machine. They also advance during suspend: overdue jobs are tried when the machine wakes.
    package static let system = {
        let start = ContinuousClock.now
        return OutboxClock(
            now: { .now },
            uptime: { ContinuousClock.now - start },
            sleep: { try await Task.sleep(for: $0) }
        )
    }()
}
