private import Synchronization

/// Collects events, and lets a test wait for them: for events, never for time.
///
/// Waiting ends when the task is cancelled, so that a test whose event never comes is ended by its suite's time limit.
package final class Recorder<Element: Sendable>: Sendable {
    private struct Waiter {
        var isSatisfied: ([Element]) -> Element?
        var continuation: CheckedContinuation<Element, any Error>
    }

    private struct State {
        var elements: [Element] = []
        var waiters: [Int: Waiter] = [:]
        var nextWaiter = 0
    }

    private let state = Mutex(State())

    package init() {}

    package func record(_ element: Element) {
        let satisfied: [(CheckedContinuation<Element, any Error>, Element)] = state.withLock { state in
            state.elements.append(element)
            var satisfied: [(CheckedContinuation<Element, any Error>, Element)] = []
            for (number, waiter) in state.waiters {
                guard let found = waiter.isSatisfied(state.elements) else { continue }
                satisfied.append((waiter.continuation, found))
                state.waiters[number] = nil
            }
            return satisfied
        }
        for (continuation, element) in satisfied { continuation.resume(returning: element) }
    }

    /// The elements recorded so far.
    package var all: [Element] { state.withLock { $0.elements } }

    package var count: Int { state.withLock { $0.elements.count } }

    /// Waits until an element that `matches` has been recorded.
    /// - Throws: `CancellationError`.
    @discardableResult
    package func first(where matches: @escaping @Sendable (Element) -> Bool = { _ in true }) async throws -> Element {
        try await wait { $0.first(where: matches) }
    }

    /// Waits until `count` elements have been recorded; returns the last of these.
    /// - Throws: `CancellationError`.
    @discardableResult
    package func element(_ count: Int) async throws -> Element {
        precondition(count > 0, "elements are counted from 1")
        return try await wait { $0.count >= count ? $0[count - 1] : nil }
    }

    private func wait(_ isSatisfied: @escaping @Sendable ([Element]) -> Element?) async throws -> Element {
        let number = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let now: Result<Element, any Error>? = state.withLock { state in
                    if let found = isSatisfied(state.elements) { return .success(found) }
                    // Cancelled before it was entered: no other code would resume it.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    state.waiters[number] = Waiter(isSatisfied: isSatisfied, continuation: continuation)
                    return nil
                }
                if let now { continuation.resume(with: now) }
            }
        } onCancel: {
            let waiter = state.withLock { $0.waiters.removeValue(forKey: number) }
            waiter?.continuation.resume(throwing: CancellationError())
        }
    }
}

/// Opens once; tasks that wait before then are suspended.
package final class Gate: Sendable {
    private let opened = Recorder<Void>()

    package init() {}

    package func open() { opened.record(()) }

    package var isOpen: Bool { opened.count > 0 }

    /// Returns when the gate is open, or the task is cancelled.
    package func wait() async { _ = try? await opened.first() }
}

/// Random numbers that are the same in every run: a failing test reports its seed.
package struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    // SplitMix64.
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
