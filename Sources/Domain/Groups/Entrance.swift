internal import Sharing

/// The receiving end of a link: it waits for the peer that the sender named, and checks its token.
///
/// ```
/// shut ─place─▶ expecting ─the token─▶ open ──▶ distrusted ─its end─▶ spent
///                   │                    └──────────its end──────────▶
///                   └──── a wrong token, 60 s ───────────────────────▶
/// ```
struct Entrance {
    /// A connection that begins as a link. The caller gives it a number of its own.
    struct Arrival {
        var connection: UInt64
        var peer: PeerID
        var token: Token
        var until: ContinuousClock.Instant
    }

    enum Answer: Equatable {
        case accept(UInt64)
        case refuse(UInt64, GroupError)
    }

    private enum State {
        case shut
        case expecting(Place.Previous, until: ContinuousClock.Instant)
        case open(Place.Previous)
        /// A block was wrong. The connection stays until the sender has decided, and nothing is read from it.
        case distrusted(Place.Previous)
        case spent(Place.Previous)
    }

    private let limits: GroupLimits
    private var state = State.shut
    /// Connections that came before a place that names them.
    private var early: [Arrival] = []

    init(limits: GroupLimits) { self.limits = limits }

    /// The epoch of the link of the last place.
    var link: Epoch? {
        switch state {
        case .shut: nil
        case .expecting(let previous, _), .open(let previous), .distrusted(let previous), .spent(let previous):
            previous.link
        }
    }

    var isOpen: Bool { if case .open = state { true } else { false } }

    var hasConnection: Bool {
        switch state {
        case .open, .distrusted: true
        case .shut, .expecting, .spent: false
        }
    }

    /// The sender names the peer before.
    mutating func expect(_ previous: Place.Previous, at now: ContinuousClock.Instant) -> [Answer] {
        state = .expecting(previous, until: now + limits.token)
        guard let index = early.firstIndex(where: { $0.peer == previous.peer }) else { return [] }
        let arrival = early.remove(at: index)
        return [judge(arrival, previous)]
    }

    /// A peer, by the key that it proved, dialled and said a token.
    ///
    /// - Returns: nil if the connection waits for a place.
    mutating func arrive(_ arrival: Arrival) -> Answer? {
        if case .expecting(let previous, _) = state, arrival.peer == previous.peer {
            return judge(arrival, previous)
        }
        guard early.count < GroupLimits.earlyArrivals else { return .refuse(arrival.connection, .tooManyArrivals) }
        early.append(arrival)
        return nil
    }

    /// Only the expected peer's try uses the token up: no other peer can spoil it.
    private mutating func judge(_ arrival: Arrival, _ previous: Place.Previous) -> Answer {
        guard arrival.token == previous.token else {
            state = .spent(previous)
            return .refuse(arrival.connection, .wrongToken)
        }
        state = .open(previous)
        return .accept(arrival.connection)
    }

    mutating func distrust() { if case .open(let previous) = state { state = .distrusted(previous) } }

    /// The connection ended.
    mutating func close() {
        switch state {
        case .open(let previous), .distrusted(let previous): state = .spent(previous)
        case .shut, .expecting, .spent: break
        }
    }

    /// Refuses connections that have waited too long, and forgets an old token.
    mutating func expire(at now: ContinuousClock.Instant) -> [Answer] {
        if case .expecting(let previous, let until) = state, until <= now { state = .spent(previous) }
        let over = early.filter { $0.until <= now }
        early.removeAll { $0.until <= now }
        return over.map { .refuse($0.connection, .unexpectedPeer) }
    }

    /// Ends everything.
    mutating func shut() -> [Answer] {
        state = .shut
        defer { early = [] }
        return early.map { .refuse($0.connection, .ended) }
    }
}
