/// Runs tasks on threads that may block: disk reads and writes happen inline, between two awaits, without a hop.
///
/// A task that prefers this executor does not block the threads of the program's other tasks.
package final class BlockingExecutor: TaskExecutor {
    private let workers: WorkerThreads

    /// - Parameter threads: maximum number of tasks on the disk at the same time; at least 1.
    package init(threads: Int) {
        let threads = max(threads, 1)
        workers = WorkerThreads(usual: threads, most: threads)
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        workers.enqueue(Work(job: UnownedJob(job), place: .preferred(asUnownedTaskExecutor())))
    }
}
