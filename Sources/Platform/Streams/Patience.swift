@preconcurrency import Dispatch

/// Waits that are mostly cancelled long before their time is over.
package enum Patience {
    /// Returns when the time is over, or when the task is cancelled.
    ///
    /// The time stands still while the machine sleeps. Nothing of the wait stays at its end. `Task.sleep` keeps its timer until the time is over, also when it was cancelled: about a
    /// kilobyte for each of thousands of questions that were answered at once.
    package static func wait(for time: Duration) async {
        let timer = DispatchSource.makeTimerSource(queue: .global())
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                timer.setEventHandler { timer.cancel() }
                timer.setCancelHandler { continuation.resume() }
                timer.schedule(deadline: .now() + time.seconds)
                timer.activate()
            }
        } onCancel: {
            timer.cancel()
        }
    }

    /// The same until an instant; never ends before it, unless the task is cancelled.
    package static func wait(until end: ContinuousClock.Instant) async {
        while !Task.isCancelled, case let time = ContinuousClock.now.duration(to: end), time > .zero {
            await wait(for: time)
        }
    }
}

extension Duration {
    fileprivate var seconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}
