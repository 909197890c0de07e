internal import NIOCore

/// The order and the times of the attempts at a peer's addresses: RFC 8305, without I/O.
///
/// Families take turns (section 4), beginning with that of the first address. An attempt has a head start before the
/// next begins beside it; when one fails, the next begins at once (section 5). Names are resolved meanwhile, and their
/// addresses join the queue (section 3).
struct HappyEyeballs {
    struct Candidate: Hashable {
        let address: SocketAddress
        /// The caller's address or name.
        let source: DialAddress
    }

    enum Action: Equatable {
        case connect(attempt: Int, Candidate)
        /// Restarts the timer of the head start.
        case startHeadStart
        /// No address is left to try.
        case giveUp
    }

    private let limit: Int
    private var seen: Set<SocketAddress> = []
    private var waiting: [Candidate] = []
    private var running: Set<Int> = []
    private var attemptCount = 0
    private var lastFamily: NIOBSDSocket.ProtocolFamily?
    private var namesBeingResolved: Int
    private var headStartIsRunning = false

    /// - Parameters:
    ///   - namesBeingResolved: the number of later calls to `resolved`.
    ///   - limit: maximum number of addresses that are tried.
    init(namesBeingResolved: Int, limit: Int) {
        self.namesBeingResolved = namesBeingResolved
        self.limit = limit
    }

    mutating func start(_ candidates: [Candidate]) -> [Action] {
        enqueue(candidates)
        return next()
    }

    /// Adds the addresses of one name: none if it could not be resolved.
    mutating func resolved(_ candidates: [Candidate]) -> [Action] {
        namesBeingResolved -= 1
        enqueue(candidates)
        return headStartIsRunning && !running.isEmpty ? [] : next()
    }

    mutating func headStartElapsed() -> [Action] {
        headStartIsRunning = false
        return next()
    }

    mutating func failed(attempt: Int) -> [Action] {
        running.remove(attempt)
        return next()
    }

    private mutating func enqueue(_ candidates: [Candidate]) {
        for candidate in candidates where seen.count < limit && seen.insert(candidate.address).inserted {
            waiting.append(candidate)
        }
    }

    private mutating func next() -> [Action] {
        guard !waiting.isEmpty else {
            return running.isEmpty && namesBeingResolved == 0 ? [.giveUp] : []
        }
        let index = waiting.firstIndex { $0.address.protocol != lastFamily } ?? 0
        let candidate = waiting.remove(at: index)
        lastFamily = candidate.address.protocol
        let attempt = attemptCount
        attemptCount += 1
        running.insert(attempt)
        headStartIsRunning = true
        return [.connect(attempt: attempt, candidate), .startHeadStart]
    }
}
