private import DequeModule
private import Dispatch
private import Synchronization

/// Runs tasks on threads that may block: disk reads and writes happen inline, between two awaits, without a hop.
///
/// A task that prefers this executor does not block the threads of the program's other tasks. The threads start on
/// demand and never end. The thread that became idle last works next: a task stays on one thread while nothing else
/// runs, with its stack and heap in the cache, and the extra threads of a busy moment cost nothing afterwards.
package final class BlockingExecutor: TaskExecutor {
    private struct State {
        /// First come, first served.
        var waiting = Deque<UnownedJob>()
        /// Threads that wait for work, the longest waiting first.
        var idle: [Semaphore] = []
        var threads = 0
    }

    private let state = Mutex(State())
    private let maximumThreads: Int
    private let startThread: BackgroundThread.Starting

    /// - Parameters:
    ///   - threads: maximum number of tasks on the disk at the same time; at least 1.
    ///   - startThread: starts a thread by its name.
    package init(threads: Int, startThread: @escaping BackgroundThread.Starting = BackgroundThread.start) {
        maximumThreads = max(threads, 1)
        self.startThread = startThread
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let (idle, mustStart) = state.withLock { state -> (Semaphore?, Bool) in
            state.waiting.append(job)
            if let idle = state.idle.popLast() { return (idle, false) }
            guard state.threads < maximumThreads else { return (nil, false) }
            state.threads += 1
            return (nil, true)
        }
        idle?.signal()
        if mustStart { start() }
    }

    private func start() {
        let isStarted = startThread("waft-disk") { [self] in work() }
        guard !isStarted else { return }
        let isAlone = state.withLock { state in
            state.threads -= 1
            return state.threads == 0
        }
        // Other threads take the job later. Without any, a thread of the program's other tasks does: the receiver goes on
        // slowly, and can end.
        if isAlone { DispatchQueue.global().async { [self] in workOnce() } }
    }

    private func workOnce() {
        while let job = state.withLock({ $0.waiting.popFirst() }) {
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }

    private func work() {
        let doorbell = Semaphore()
        while true {
            let job = state.withLock { state -> UnownedJob? in
                if let job = state.waiting.popFirst() { return job }
                state.idle.append(doorbell)
                return nil
            }
            if let job { job.runSynchronously(on: asUnownedTaskExecutor()) } else { doorbell.wait() }
        }
    }
}
