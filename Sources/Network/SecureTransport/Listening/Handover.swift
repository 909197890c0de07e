internal import NIOConcurrencyHelpers

/// Passes elements from event loops to one task, and drops none: each announced element is taken, also after `finish`.
/// (An `AsyncStream` drops its elements when its task is cancelled; an element here owns a connection.)
final class Handover<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        /// Elements that are announced but not given yet.
        var announced = 0
        var isFinished = false
        var waiting: CheckedContinuation<Element?, Never>?

        var isOver: Bool { isFinished && announced == 0 && elements.isEmpty }
    }

    private let state = NIOLockedValueBox(State())

    /// Announces an element. Exactly one `give` or `withdraw` must follow.
    ///
    /// - Returns: false after `finish`.
    func announce() -> Bool {
        state.withLockedValue { state in
            guard !state.isFinished else { return false }
            state.announced += 1
            return true
        }
    }

    func give(_ element: Element) {
        let waiting = state.withLockedValue { state -> CheckedContinuation<Element?, Never>? in
            state.announced -= 1
            if let waiting = state.waiting.take() { return waiting }
            state.elements.append(element)
            return nil
        }
        waiting?.resume(returning: element)
    }

    func withdraw() {
        let waiting = state.withLockedValue { state in
            state.announced -= 1
            return state.isOver ? state.waiting.take() : nil
        }
        waiting?.resume(returning: nil)
    }

    /// Refuses further announcements.
    func finish() {
        let waiting = state.withLockedValue { state in
            state.isFinished = true
            return state.isOver ? state.waiting.take() : nil
        }
        waiting?.resume(returning: nil)
    }

    /// The next element, or nil when no more will come. For one task at a time; its cancellation changes nothing.
    func next() async -> Element? {
        await withCheckedContinuation { continuation in
            let result = state.withLockedValue { state -> Element?? in
                if !state.elements.isEmpty { return .some(state.elements.removeFirst()) }
                if state.isOver { return .some(nil) }
                state.waiting = continuation
                return nil
            }
            if let result { continuation.resume(returning: result) }
        }
    }
}
