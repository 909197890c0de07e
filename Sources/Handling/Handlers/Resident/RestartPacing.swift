/// How long a resident handler that failed is not restarted: longer each time, until it answers again.
struct RestartPacing: Sendable {
    /// The first wait.
    let first: Duration
    /// The longest.
    let longest: Duration
    /// The earliest time of a restart; nil if it may restart now.
    private(set) var notBefore: ContinuousClock.Instant?
    private var next: Duration

    init(first: Duration = .seconds(1), longest: Duration = .seconds(600)) {
        self.first = first
        self.longest = longest
        next = first
    }

    mutating func failed(at now: ContinuousClock.Instant) {
        notBefore = now + next
        next = min(next * 2, longest)
    }

    mutating func answered() {
        notBefore = nil
        next = first
    }

    /// Whether a restart must still wait.
    func isWaiting(at now: ContinuousClock.Instant) -> Bool {
        notBefore.map { now < $0 } ?? false
    }
}
