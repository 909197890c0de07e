private import DequeModule
private import Synchronization

/// A thread that runs one piece of work after the other, in the order of arrival.
///
/// It starts with the first piece of work and never ends. While no thread can be started, the callers do the work.
package final class SerialThread: Sendable {
    private struct State {
        var waiting = Deque<@Sendable () -> Void>()
        var hasThread = false
        var sleeps = false
    }

    private let name: String
    private let state = Mutex(State())
    private let doorbell = Semaphore()
    private let startThread: BackgroundThread.Starting

    /// - Parameters:
    ///   - name: of the thread, at most 15 bytes.
    ///   - startThread: starts a thread by its name.
    package init(name: String, startThread: @escaping BackgroundThread.Starting = BackgroundThread.start) {
        (self.name, self.startThread) = (name, startThread)
    }

    /// - Parameter work: may block.
    package func enqueue(_ work: @escaping @Sendable () -> Void) {
        let (mustStart, mustRing) = state.withLock { state in
            state.waiting.append(work)
            defer { (state.hasThread, state.sleeps) = (true, false) }
            return (!state.hasThread, state.sleeps)
        }
        if mustStart {
            if !startThread(name, { [self] in go() }) { goOnce() }
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

    /// Does the work that waits. The next work tries again to start the thread.
    private func goOnce() {
        while true {
            let work = state.withLock { state in
                let work = state.waiting.popFirst()
                state.hasThread = work != nil
                return work
            }
            guard let work else { return }
            work()
        }
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
