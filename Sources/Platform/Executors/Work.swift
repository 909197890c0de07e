/// A task's next step, and where it must find itself.
struct Work: Sendable {
    enum Place {
        /// Without a preference: the task goes on without a hop wherever it is.
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

    /// The serial executor of what is isolated to nothing: zeros, in the runtime's ABI (`SerialExecutorRef::generic`).
    private static let generic = unsafeBitCast((0, 0), to: UnownedSerialExecutor.self)
}
