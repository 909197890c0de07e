internal import CAvahi
internal import CLinuxShims
internal import Executors
internal import Glibc
internal import Synchronization

/// A thread that runs Avahi's event loop, and the executor of the actor that lives on it.
///
/// Only the thread that polls may touch Avahi's objects, and their callbacks run on that thread. Both hold by
/// construction if the loop is an actor's executor: the actor's code and the callbacks take turns, no lock is needed,
/// and no other thread ever waits for D-Bus. The thread ends when the loop is dropped.
final class AvahiLoop: SerialExecutor {
    private let core: AvahiLoopCore

    /// - Throws: ``DiscoveryError`` `.noResources`.
    init(name: String) throws(DiscoveryError) {
        core = try AvahiLoopCore()
        core.owner.withLock { $0 = WeakLoop(loop: self) }
        guard BackgroundThread.start(name, { [core] in core.run() }) else {
            throw DiscoveryError(.noResources, cause: "no thread could be started")
        }
    }

    deinit {
        core.stop()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        core.enqueue(UnownedJob(job))
    }

    func checkIsolated() {
        precondition(core.isCurrent, "not on the discovery loop's thread")
    }

    func isIsolatingCurrentContext() -> Bool? {
        core.isCurrent
    }

    /// The poll interface that Avahi's constructors need. Only for code on the loop's thread.
    var pollAPI: UnsafePointer<AvahiPoll> {
        checkIsolated()
        return core.pollAPI
    }

    /// Runs `work` on the loop's thread as soon as no callback of Avahi is on the stack. Only for code on that thread.
    ///
    /// Callbacks only report an event and return. Acting within them would free objects that Avahi still uses, and
    /// constructors would call back before they have returned.
    func afterCallbacks(_ work: @escaping () -> Void) {
        checkIsolated()
        core.deferred.append(work)
    }
}

/// The loop, for its executor's thread; it does not keep that executor alive.
private struct WeakLoop: Sendable {
    weak let loop: AvahiLoop?
}

/// The state that the thread and the executor share.
///
/// `@unchecked`: `deferred` and `pollAPI` are used on the loop's thread alone, the rest is constant or locked.
private final class AvahiLoopCore: @unchecked Sendable {
    let owner = Mutex<WeakLoop?>(nil)
    var deferred: [() -> Void] = []

    private struct Queue: Sendable {
        var jobs: [UnownedJob] = []
        var isStopped = false
    }

    private let queue = Mutex(Queue())
    private let thread = Atomic<UInt>(0)
    /// `AvahiSimplePoll`, owned; freed by the thread when it ends.
    private let poll: OpaquePointer
    /// eventfd, owned; closed when no code can write to it any more.
    private let wakeup: Int32

    init() throws(DiscoveryError) {
        let wakeup = CLinuxShims_eventfd()
        guard wakeup >= 0 else { throw DiscoveryError(.noResources, cause: String(cString: strerror(errno))) }
        guard let poll = avahi_simple_poll_new() else {
            close(wakeup)
            throw DiscoveryError(.noResources, cause: "no memory or file descriptors for Avahi's poll")
        }
        self.wakeup = wakeup
        self.poll = poll
        // The watch belongs to the poll, which frees it.
        guard watchWakeup() != nil else { throw DiscoveryError(.noResources, cause: "no memory for Avahi's poll") }
    }

    deinit {
        avahi_simple_poll_free(poll)
        close(wakeup)
    }

    var pollAPI: UnsafePointer<AvahiPoll> { avahi_simple_poll_get(poll) }

    var isCurrent: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }

    func enqueue(_ job: UnownedJob) {
        queue.withLock { $0.jobs.append(job) }
        wake()
    }

    func stop() {
        queue.withLock { $0.isStopped = true }
        wake()
    }

    private func wake() {
        var one: UInt64 = 1
        // EAGAIN means that the counter is full: the thread is about to wake anyway.
        _ = write(wakeup, &one, MemoryLayout<UInt64>.size)
    }

    /// The thread's work: Avahi's events, then the work that its callbacks deferred, then the actor's jobs.
    func run() {
        thread.store(UInt(pthread_self()), ordering: .relaxed)
        while !queue.withLock({ $0.isStopped && $0.jobs.isEmpty }) {
            if avahi_simple_poll_iterate(poll, -1) < 0 {
                // Probably poll(2) has no memory. A pause is better than spinning.
                usleep(10_000)
            }
            runPending()
        }
    }

    /// Adds the eventfd to the loop's poll; nil if there is no memory for it.
    private func watchWakeup() -> OpaquePointer? {
        pollAPI.pointee.watch_new(
            pollAPI,
            wakeup,
            AVAHI_WATCH_IN,
            { _, file, _, _ in
                var count: UInt64 = 0
                _ = read(file, &count, MemoryLayout<UInt64>.size)
            },
            nil
        )
    }

    private func runPending() {
        while true {
            while !deferred.isEmpty {
                let works = deferred
                deferred = []
                for work in works { work() }
            }
            let jobs = queue.withLock {
                let jobs = $0.jobs
                $0.jobs = []
                return jobs
            }
            if jobs.isEmpty { return }
            // A job keeps its actor and so the executor alive: with jobs there is a loop. It may be gone after them.
            guard let loop = owner.withLock({ $0?.loop }) else { return }
            let executor = loop.asUnownedSerialExecutor()
            for job in jobs { job.runSynchronously(on: executor) }
        }
    }
}
