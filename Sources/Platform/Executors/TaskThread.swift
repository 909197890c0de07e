private import DequeModule
private import Synchronization

/// A thread for a task that blocks, or takes long. It ends with this object's `end`.
final class TaskThread: TaskExecutor {
    private let waiting = Mutex(Deque<UnownedJob>())
    private let doorbell = Semaphore()

    /// - Parameter name: at most 15 bytes; tools show it.
    /// - Returns: nil if there is no thread.
    init?(name: String) {
        guard BackgroundThread.start(name, { [self] in go() }) else { return nil }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        waiting.withLock { $0.append(job) }
        doorbell.signal()
    }

    /// Ends the thread when nothing waits.
    func end() { doorbell.signal() }

    private func go() {
        while true {
            doorbell.wait()
            guard let job = waiting.withLock({ $0.popFirst() }) else { return }
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}
