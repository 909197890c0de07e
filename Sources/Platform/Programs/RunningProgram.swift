import Glibc
import Streams
import Synchronization

/// A program that was started. Deinit does not end it.
package final class RunningProgram: Sendable {
    private struct State {
        var exit: ProgramExit?
        var waiting: [@Sendable (ProgramExit) -> Void] = []
    }

    private let number: pid_t
    private let state = Mutex(State())

    init(_ number: pid_t) { self.number = number }

    func ended(_ exit: ProgramExit) {
        let waiting = state.withLock { state in
            state.exit = exit
            defer { state.waiting = [] }
            return state.waiting
        }
        for tell in waiting { tell(exit) }
    }

    /// Nil while it runs.
    package var exit: ProgramExit? { state.withLock { $0.exit } }

    /// Calls `tell` once when the process has ended; at once if it has already.
    package func whenEnded(_ tell: @escaping @Sendable (ProgramExit) -> Void) {
        let exit: ProgramExit? = state.withLock { state in
            if state.exit == nil { state.waiting.append(tell) }
            return state.exit
        }
        if let exit { tell(exit) }
    }

    /// Waits until it has ended, whether or not the task is cancelled.
    package func ending() async -> ProgramExit {
        await withCheckedContinuation { continuation in whenEnded { continuation.resume(returning: $0) } }
    }

    /// The first event.
    package enum Ending: Sendable {
        case exited(ProgramExit)
        case outOfTime
        /// The task was cancelled.
        case cancelled
    }

    /// Waits until it has ended, time is up or the task is cancelled.
    package func ending(within limit: Duration) async -> Ending {
        let (endings, feed) = AsyncStream<Ending>.makeStream(bufferingPolicy: .bufferingOldest(1))
        whenEnded { feed.yield(.exited($0)) }
        let timer = Task {
            await Patience.wait(for: limit)
            feed.yield(.outOfTime)
        }
        defer { timer.cancel() }
        for await ending in endings { return ending }
        return exit.map(Ending.exited) ?? .cancelled
    }

    /// Kills the program and its process group, which must be its own. It may belong to root by now: then nothing happens.
    func killGroup() {
        guard exit == nil else { return }
        kill(-number, SIGKILL)
    }

    /// Sends each signal in turn, and waits for the end of the program after it. Returns when that has come or all time is
    /// up, even if the task is cancelled.
    package func end(_ steps: [EndStep]) async {
        guard exit == nil else { return }
        await Task { [self] in
            for step in steps {
                kill(number, step.signal)
                guard case .outOfTime = await ending(within: step.time) else { return }
            }
        }.value
    }
}
