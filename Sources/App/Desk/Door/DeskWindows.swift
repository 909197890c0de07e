import Synchronization

/// Counts the windows that are open: each keeps streams of events open.
package final class DeskWindows: Sendable {
    private struct State {
        var streams = 0
        /// When the last stream ended, or the desk began.
        var emptySince = ContinuousClock.now
    }

    private let state = Mutex(State())

    package init() {}

    /// Runs `body`, which serves a stream of a window.
    func counting(_ body: () async throws -> Void) async rethrows {
        state.withLock { $0.streams += 1 }
        defer {
            state.withLock { state in
                state.streams -= 1
                state.emptySince = .now
            }
        }
        try await body()
    }

    /// Waits until no window has been open for some time, or the task is cancelled.
    package func waitUntilClosed(for grace: Duration) async {
        while !Task.isCancelled {
            let rest = state.withLock { state -> Duration in
                state.streams > 0 ? grace : ContinuousClock.now.duration(to: state.emptySince + grace)
            }
            if rest <= .zero { return }
            try? await Task.sleep(for: rest)
        }
    }
}
