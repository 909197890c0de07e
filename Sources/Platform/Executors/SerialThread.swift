private import DequeModule
private import Synchronization

/// A thread that runs one piece of work after the other, in the order of arrival.
///
/// It starts with the first piece of work and never ends.
package final class SerialThread: Sendable {
    private struct State {
        var waiting = Deque<@Sendable () -> Void>()
        var hasThread = false
        var sleeps = false
    }

    private let name: String
    private let state = Mutex(State())
    private let doorbell = Semaphore()

    /// - Parameter name: of the thread, at most 15 bytes.
    package init(name: String) {
        self.name = name
    }

    /// - Parameter work: may block.
    package func enqueue(_ work: @escaping @Sendable () -> Void) {
        let (isFirstEver, mustRing) = state.withLock { state in
            state.waiting.append(work)
            defer { (state.hasThread, state.sleeps) = (true, false) }
            return (!state.hasThread, state.sleeps)
        }
        if isFirstEver {
            precondition(BackgroundThread.start(name) { [self] in go() }, "no thread could be started")
        } else if mustRing {
            doorbell.signal()
        }
    }

    /// Waits until all work enqueued so far is done.
    package func drain() {
        let done = Semaphore()
        enqueue { done.signal() }
        done.wait()
    }

    private func go() {
        while true {
            let work = state.withLock { state in
                let work = state.waiting.popFirst()
                state.sleeps = work == nil
                return work
            }
            if let work { work() } else { doorbell.wait() }
        }
    }
}
