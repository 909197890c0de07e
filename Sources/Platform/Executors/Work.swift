/// A task's next step, and the executor that it needs.
struct Work: Sendable {
    enum Place {
        /// No preference: the task continues without a hop on its present thread.
        case anywhere
        case preferred(UnownedTaskExecutor)
        case isolated(UnownedSerialExecutor)
    }

    let job: UnownedJob
    let place: Place

    func run() {
        switch place {
        case .anywhere: job.runSynchronously(on: Self.generic)
        case .preferred(let executor): job.runSynchronously(on: executor)
        case .isolated(let executor): job.runSynchronously(on: executor)
        }
    }

    /// The serial executor of code without isolation: zeros, in the runtime's ABI (`SerialExecutorRef::generic`).
    private static let generic = unsafeBitCast((0, 0), to: UnownedSerialExecutor.self)
}
