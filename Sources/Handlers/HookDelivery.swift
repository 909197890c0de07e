package import Sharing
private import Synchronization

/// Hands arrivals to the configured hook: in the order in which they come, a few at a time.
package final class HookDelivery: Delivering {
    private let hook: Hook?
    private let turnstile = Turnstile(places: 4)

    /// - Parameter hook: nil where none is configured; then nobody is asked.
    package init(hook: Hook?) {
        self.hook = hook
    }

    package func takes(_ arrival: Arrival) -> Bool { hook != nil }

    package func deliver(_ arrival: Arrival) async -> HandlerAnswer {
        guard let hook else { return HandlerAnswer(.none) }
        await turnstile.enter()
        defer { turnstile.leave() }
        return await hook.open(arrival)
    }
}

/// Lets a few tasks through at a time, in the order in which they come.
final class Turnstile: Sendable {
    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(places: Int) {
        state = Mutex(State(free: places))
    }

    func enter() async {
        await withCheckedContinuation { continuation in
            let mayEnter = state.withLock { state in
                if state.free > 0 {
                    state.free -= 1
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if mayEnter { continuation.resume() }
        }
    }

    func leave() {
        let next: CheckedContinuation<Void, Never>? = state.withLock { state in
            if state.waiting.isEmpty {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
