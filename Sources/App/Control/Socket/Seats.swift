import NIOConcurrencyHelpers

/// The places for connections. When all are taken, a new connection replaces the one that has been idle longest:
/// commands that hang, or were stopped, keep no user from answering an offer.
final class Seats: Sendable {
    private struct Occupant {
        var leave: @Sendable () -> Void
        /// Rises from one to the next; nil for one that is being served.
        var idleSince: Int?
    }

    private struct State {
        var next = 0
        var occupants: [Int: Occupant] = [:]

        mutating func tick() -> Int {
            next += 1
            return next
        }
    }

    private let count: Int
    private let state = NIOLockedValueBox(State())

    init(_ count: Int) {
        self.count = count
    }

    /// - Parameter leave: makes the connection end; called at most once, when its seat was given to another.
    /// - Returns: nil when all are being served.
    func take(leave: @escaping @Sendable () -> Void) -> Seat? {
        let (number, evicted): (Int?, Occupant?) = state.withLockedValue { state in
            var evicted: Occupant?
            if state.occupants.count >= count {
                let idle = state.occupants.filter { $0.value.idleSince != nil }
                guard let longest = idle.min(by: { ($0.value.idleSince ?? 0) < ($1.value.idleSince ?? 0) }) else {
                    return (nil, nil)
                }
                evicted = state.occupants.removeValue(forKey: longest.key)
            }
            let number = state.tick()
            state.occupants[number] = Occupant(leave: leave, idleSince: number)
            return (number, evicted)
        }
        evicted?.leave()
        return number.map { Seat(number: $0, seats: self) }
    }

    fileprivate func setBusy(_ isBusy: Bool, _ number: Int) {
        state.withLockedValue { state in
            let now = state.tick()
            state.occupants[number]?.idleSince = isBusy ? nil : now
        }
    }

    fileprivate func giveBack(_ number: Int) {
        state.withLockedValue { $0.occupants[number] = nil }
    }
}

/// A place. A connection that has lost it need not know this: all later calls do nothing.
struct Seat: Sendable {
    fileprivate let number: Int
    fileprivate let seats: Seats

    /// Whether something is being done for it; one that waits, or does not read what it asked for, is idle.
    func setBusy(_ isBusy: Bool) { seats.setBusy(isBusy, number) }

    func giveBack() { seats.giveBack(number) }
}
