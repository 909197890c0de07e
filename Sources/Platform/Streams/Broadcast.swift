private import Synchronization

/// Sends each element to all current watchers, in the same order to each.
///
/// The elements of a watcher wait in a buffer of its own: a slow watcher delays neither the sender nor other watchers.
package final class Broadcast<Element: Sendable>: Sendable {
    private struct State {
        var watchers: [UInt64: AsyncStream<Element>.Continuation] = [:]
        var lastNumber: UInt64 = 0
        var hasEnded = false

        /// - Returns: the watchers until now.
        mutating func end() -> [AsyncStream<Element>.Continuation] {
            hasEnded = true
            defer { watchers = [:] }
            return Array(watchers.values)
        }
    }

    private let buffer: AsyncStream<Element>.Continuation.BufferingPolicy
    private let state = Mutex(State())

    /// - Parameter buffer: the elements that wait for one watcher: `.bufferingNewest(1)` for a state, or for news that
    ///   say only that something changed.
    package init(buffer: AsyncStream<Element>.Continuation.BufferingPolicy) {
        self.buffer = buffer
    }

    deinit { end() }

    /// - Parameter first: elements for this watcher alone, before all others.
    /// - Returns: the elements from now on, until the broadcast ends; for one task. Dropping the stream ends the watch.
    package func watch(after first: [Element] = []) -> AsyncStream<Element> {
        let (stream, watcher) = AsyncStream<Element>.makeStream(bufferingPolicy: buffer)
        for element in first { watcher.yield(element) }
        let number = state.withLock { state -> UInt64? in
            guard !state.hasEnded else { return nil }
            state.lastNumber += 1
            state.watchers[state.lastNumber] = watcher
            return state.lastNumber
        }
        if let number {
            watcher.onTermination = { [weak self] _ in self?.remove(number) }
        } else {
            watcher.finish()
        }
        return stream
    }

    package func send(_ element: Element) {
        state.withLock { state in
            for watcher in state.watchers.values { watcher.yield(element) }
        }
    }

    /// Ends all streams, and each later one.
    package func end() {
        // Outside the lock: the end of a stream removes its watcher.
        for watcher in state.withLock({ $0.end() }) { watcher.finish() }
    }

    /// The number of current watchers.
    package var watcherCount: Int { state.withLock { $0.watchers.count } }

    private func remove(_ number: UInt64) {
        // Released outside the lock, since its release can end the stream again.
        let removed = state.withLock { $0.watchers.removeValue(forKey: number) }
        withExtendedLifetime(removed) {}
    }
}
