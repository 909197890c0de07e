import Protection
import Sharing
import Synchronization

/// The clear copies that handlers have now.
final class OpenCopies: Sendable {
    private struct Copy: Hashable {
        var program: String
        var number: String
    }

    private struct Holder {
        var protection: ProtectionClass
        /// Ends the program; nil while there is none yet.
        var tell: (@Sendable () -> Void)?
    }

    private struct State {
        var copies: [Copy: Holder] = [:]
        /// They wait until no copy is left that a lock removes.
        var waiters: [CheckedContinuation<Void, Never>] = []

        var isQuiet: Bool { !copies.values.contains { IdentityRole($0.protection) == .whileUnlocked } }
    }

    private let state = Mutex(State())

    /// A program gets copies of these items.
    func begin(_ arrivals: [Arrival], for program: String) {
        state.withLock { state in
            for arrival in arrivals where arrival.protection.isSealed {
                state.copies[Copy(program: program, number: "\(arrival.number)")] = Holder(
                    protection: arrival.protection)
            }
        }
    }

    /// Calls `tell` at a lock, if the program has a copy of the class complete among these.
    func whenLocked(_ arrivals: [Arrival], for program: String, _ tell: @escaping @Sendable () -> Void) {
        state.withLock { state in
            for arrival in arrivals where arrival.protection == .complete {
                state.copies[Copy(program: program, number: "\(arrival.number)")]?.tell = tell
            }
        }
    }

    /// The class complete was locked.
    func tellOfLock() {
        for tell in state.withLock({ $0.copies.values.compactMap(\.tell) }) { tell() }
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
        state.withLock { $0.copies[Copy(program: program, number: number)]?.protection }
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
