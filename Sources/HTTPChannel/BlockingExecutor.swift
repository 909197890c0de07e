private import Glibc
private import NIOConcurrencyHelpers
private import NIOCore

/// Runs tasks on threads that may block: disk reads and writes happen inline, between two awaits, without a hop.
///
/// A task that prefers this executor leaves the shared concurrency pool alone, whose threads must never block.
///
/// Threads are started when they are needed and never end. The one that became idle last is the next to work: a transfer
/// stays on one thread as long as nothing else goes on, with its stack and its heap in the cache, and the other threads
/// of a busy moment cost nothing afterwards.
package final class BlockingExecutor: TaskExecutor {
    private struct State {
        var jobs = CircularBuffer<UnownedJob>(initialCapacity: 16)
        /// Those that wait for work, the one that has waited longest first.
        var idle: [Worker] = []
        var threads = 0
    }

    private enum Hand {
        case woken(Worker)
        case new
        /// All work, and will look.
        case busy
    }

    private let state = NIOLockedValueBox(State())
    private let most: Int

    /// - Parameter threads: how many tasks may be on the disk at the same time; at least 1.
    package init(threads: Int) {
        self.most = max(threads, 1)
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let hand = state.withLockedValue { state -> Hand in
            state.jobs.append(job)
            if let worker = state.idle.popLast() { return .woken(worker) }
            guard state.threads < most else { return .busy }
            state.threads += 1
            return .new
        }
        switch hand {
        case .woken(let worker): worker.wake()
        case .new: start()
        case .busy: break
        }
    }

    private func start() {
        let isStarted = Worker.start { [self] in work(Worker()) }
        guard !isStarted else { return }
        let isAlone = state.withLockedValue { state in
            state.threads -= 1
            return state.threads == 0
        }
        // With others the job waits for one of them. Without any, a task that never ran again would never end.
        precondition(!isAlone, "no thread could be started")
    }

    private func work(_ worker: Worker) {
        let executor = asUnownedTaskExecutor()
        while true {
            let job = state.withLockedValue { state -> UnownedJob? in
                if let job = state.jobs.popFirst() { return job }
                state.idle.append(worker)
                return nil
            }
            if let job { job.runSynchronously(on: executor) } else { worker.sleep() }
        }
    }
}

/// One thread, and what it sleeps on. Sendable: a semaphore is there to be used from several threads.
private final class Worker: @unchecked Sendable {
    // Never freed, as the thread never ends.
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() {
        precondition(sem_init(semaphore, 0, 0) == 0, "a semaphore could not be made")
    }

    func wake() {
        sem_post(semaphore)
    }

    /// Until `wake`; one that came before counts.
    func sleep() {
        while sem_wait(semaphore) != 0 {}
    }

    /// - Returns: whether there is a thread that runs `body`.
    static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        let box = Unmanaged.passRetained(Body(body))
        var thread = pthread_t()
        let failure = pthread_create(
            &thread, nil,
            { box in
                if let box { Unmanaged<Body>.fromOpaque(box).takeRetainedValue().run() }
                return nil
            }, box.toOpaque())
        if failure == 0 { pthread_detach(thread) } else { box.release() }
        return failure == 0
    }

    private final class Body {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
}
