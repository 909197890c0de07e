import Synchronization
import WebPages

/// The windows that are open: each keeps a stream open.
package final class DeskWindows: Sendable {
    private struct State {
        var streams = 0
        var windows: [String: DeskWindow] = [:]
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

    subscript(name: String) -> DeskWindow? { state.withLock { $0.windows[name] } }

    /// Whether a window is open whose previews have this secret.
    func show(_ previews: String) -> Bool {
        state.withLock { $0.windows.values.contains { WebSecret.areEqual($0.previews, previews) } }
    }

    /// Runs `body`, which serves the stream of a window; its calls end with it.
    func keeping(_ window: DeskWindow, _ body: () async throws -> Void) async rethrows {
        state.withLock { $0.windows[window.name] = window }
        defer {
            state.withLock { _ = $0.windows.removeValue(forKey: window.name) }
            window.close()
        }
        try await counting(body)
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
