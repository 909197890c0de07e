@preconcurrency import Dispatch

/// Waits that are mostly cancelled long before their time is over.
package enum Patience {
    /// Returns when the time is over, or when the task is cancelled.
    ///
    /// Nothing of it stays then. `Task.sleep` keeps its timer until the time is over, also when it was cancelled: about a
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
}

extension Duration {
    fileprivate var seconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}
