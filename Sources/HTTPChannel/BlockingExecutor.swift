private import NIOPosix

/// Runs tasks on threads that may block: disk reads and writes happen inline, between two awaits, without a hop.
///
/// A task that prefers this executor leaves the shared concurrency pool alone, whose threads must never block.
package final class BlockingExecutor: TaskExecutor {
    private let pool: NIOThreadPool

    /// - Parameter threads: how many tasks may be on the disk at the same time; at least 1.
    package init(threads: Int) {
        self.pool = NIOThreadPool(numberOfThreads: max(threads, 1))
        pool.start()
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedTaskExecutor()
        // The job runs in either case: a task that never ran again would never end.
        pool.submit { _ in job.runSynchronously(on: executor) }
    }
}
