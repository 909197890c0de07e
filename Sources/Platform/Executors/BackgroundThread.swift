private import CLinuxShims
private import DequeModule
private import Glibc
private import Synchronization

/// A thread of Waft's own, for work that blocks or takes long. All such threads are started here.
package enum BackgroundThread {
    /// Signals are for the program's other threads, whose calls they may interrupt. These are not blocked: they come
    /// from the thread's own work, a fault, or the use of the terminal by a program in the background.
    private static let signalsOfOwnWork = [
        SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS, SIGTTIN, SIGTTOU,
    ]

    /// Starts a thread, as `start` does.
    package typealias Starting = @Sendable (_ name: String, _ body: @escaping @Sendable () -> Void) -> Bool

    /// - Parameter name: at most 15 bytes; tools show it.
    /// - Returns: whether there is a thread that runs `body`; without one it does not run.
    @discardableResult
    package static func start(_ name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
        let start = Unmanaged.passRetained(Start(name: name, body: body))
        var (blocked, before) = (sigset_t(), sigset_t())
        sigfillset(&blocked)
        for signal in signalsOfOwnWork { sigdelset(&blocked, signal) }
        // The new thread inherits the mask, so no signal reaches it before it could set its own.
        pthread_sigmask(SIG_SETMASK, &blocked, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        var thread = pthread_t()
        let failure = pthread_create(
            &thread, nil,
            { start in
                guard let start else { return nil }
                let (name, body) = Unmanaged<Start>.fromOpaque(start).takeRetainedValue().parts
                CLinuxShims_pthread_setname(name)
                body()
                return nil
            }, start.toOpaque())
        if failure == 0 { pthread_detach(thread) } else { start.release() }
        return failure == 0
    }

    /// Runs `body` on a thread of its own, as a part of the calling task: it sees whether the task is cancelled.
    ///
    /// - Parameter name: at most 15 bytes; tools show it.
    /// - Returns: nil if there is no thread; then `body` has not run.
    @discardableResult
    package static func run<Result: Sendable>(
        _ name: String, _ body: @escaping @Sendable () -> Result
    ) async -> Result? {
        guard let thread = TaskThread(name: name) else { return nil }
        defer { thread.end() }
        return await withTaskExecutorPreference(thread) { body() }
    }

    /// The argument of a new thread, which releases it.
    private final class Start {
        let parts: (name: String, body: @Sendable () -> Void)

        init(name: String, body: @escaping @Sendable () -> Void) {
            parts = (name, body)
        }
    }
}

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
