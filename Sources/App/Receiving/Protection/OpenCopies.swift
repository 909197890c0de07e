import Protection
import Sharing
import Synchronization

/// The clear copies that handlers have now.
final class OpenCopies: Sendable {
    private struct Copy: Hashable {
        var program: String
        var number: String
    }

    private struct State {
        var copies: [Copy: ProtectionClass] = [:]
        /// They wait until no copy is left that a lock removes.
        var waiters: [CheckedContinuation<Void, Never>] = []

        var isQuiet: Bool { !copies.values.contains { IdentityRole($0) == .whileUnlocked } }
    }

    private let state = Mutex(State())

    /// A program gets copies of these items.
    func begin(_ arrivals: [Arrival], for program: String) {
        state.withLock { state in
            for arrival in arrivals where arrival.protection.isSealed {
                state.copies[Copy(program: program, number: "\(arrival.number)")] = arrival.protection
            }
        }
    }

    /// It has answered, or got none.
    func end(_ arrivals: [Arrival], for program: String) {
        let ready = state.withLock { state in
            for arrival in arrivals { state.copies[Copy(program: program, number: "\(arrival.number)")] = nil }
            guard state.isQuiet else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in ready { waiter.resume() }
    }

    /// The protection of an item of which a program has a copy.
    func protection(_ program: String, _ number: String) -> ProtectionClass? {
        state.withLock { $0.copies[Copy(program: program, number: number)] }
    }

    /// Waits until no program has a copy of an item that a lock closes.
    func quiet() async {
        await withCheckedContinuation { waiter in
            let isQuiet = state.withLock { state in
                if !state.isQuiet { state.waiters.append(waiter) }
                return state.isQuiet
            }
            if isQuiet { waiter.resume() }
        }
    }
}
