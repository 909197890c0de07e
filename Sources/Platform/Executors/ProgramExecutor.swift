private import Glibc

#if compiler(>=6.3) && compiler(<6.4)
    @_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) private import _Concurrency
#endif

/// The program's own executor for tasks, instead of libdispatch's.
///
/// While the process lives, libdispatch checks once a second whether threads of its pool are blocked, so an idle daemon
/// would wake up. Here a thread wakes only for work, and the pool is checked only while work waits.
package enum ProgramExecutor {
    /// Must be called once, on the main thread, before the first task is made.
    ///
    /// A toolchain with another way to set executors keeps its own; so does a process that gets no timer.
    package static func install() {
        #if compiler(>=6.3) && compiler(<6.4)
            guard let scheduler = Scheduler() else { return }
            Installed.scheduler = scheduler
            _createExecutors(factory: Factory.self)
        #endif
    }
}

#if compiler(>=6.3) && compiler(<6.4)
    private enum Installed {
        /// Written once, before there are tasks.
        nonisolated(unsafe) static var scheduler: Scheduler?
    }

    private struct Factory: ExecutorFactory {
        static let mainExecutor: any MainExecutor = MainActorThread()

        static var defaultExecutor: any TaskExecutor {
            guard let scheduler = Installed.scheduler else {
                preconditionFailure("executors are made by `install` alone")
            }
            return scheduler
        }
    }

    /// Runs tasks without a preferred executor, on as many threads as there are processors.
    private final class Scheduler: TaskExecutor, SchedulingExecutor {
        private let workers: WorkerThreads
        private let continuous: Timekeeper
        private let suspending: Timekeeper
        /// Maximum number of threads, if tasks block that should not.
        private static let most = 128

        init?() {
            guard let continuous = Timekeeper(clock: CLOCK_BOOTTIME),
                let suspending = Timekeeper(clock: CLOCK_MONOTONIC)
            else { return nil }
            self.continuous = continuous
            self.suspending = suspending
            // With only one thread, each blocked task would delay all others, if only for milliseconds.
            let processors = max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 2)
            workers = WorkerThreads(usual: min(processors, Self.most), most: Self.most, timekeeper: continuous)
        }

        func enqueue(_ job: consuming ExecutorJob) {
            workers.enqueue(Work(job: UnownedJob(job), place: .anywhere))
        }

        func enqueue<C: Clock>(
            _ job: consuming ExecutorJob, after delay: C.Duration, tolerance: C.Duration?, clock: C
        ) {
            // Other clocks sleep by one of these two.
            guard let delay = delay as? Duration else { preconditionFailure("a clock with a time of its own") }
            let work = Work(job: UnownedJob(job), place: .anywhere)
            let keeper = clock is SuspendingClock ? suspending : continuous
            keeper.schedule(after: Self.nanoseconds(delay)) { [workers] in workers.enqueue(work) }
        }

        func enqueue<C: Clock>(
            _ job: consuming ExecutorJob, at instant: C.Instant, tolerance: C.Duration?, clock: C
        ) {
            enqueue(job, after: clock.now.duration(to: instant), tolerance: tolerance, clock: clock)
        }

        private static func nanoseconds(_ delay: Duration) -> UInt64 {
            let (seconds, attoseconds) = delay.components
            guard seconds >= 0, attoseconds >= 0 else { return 0 }
            let (nanoseconds, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
            return overflow ? .max : nanoseconds &+ UInt64(attoseconds / 1_000_000_000)
        }
    }

    /// Runs the main actor's jobs, one at a time and in order. Waft's code has none; the library requires an executor.
    private final class MainActorThread: MainExecutor {
        private let worker = WorkerThreads(usual: 1, most: 1)

        func enqueue(_ job: consuming ExecutorJob) {
            worker.enqueue(Work(job: UnownedJob(job), place: .isolated(asUnownedSerialExecutor())))
        }

        func run() throws {
            while true { pause() }
        }

        func stop() {}
    }
#endif
