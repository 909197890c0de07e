/// The progress of a member, as its heartbeats say it.
struct Pace {
    private struct Sample {
        var at: ContinuousClock.Instant
        var has: Int
    }

    /// Blocks that the member has.
    private(set) var has = 0
    /// Blocks that it had one heartbeat before: heartbeats of two members come at different times, so this number is compared
    /// with the last one of the member after it.
    private(set) var hadBefore = 0
    /// The best rate so far, in blocks a second.
    var best = 0.0
    /// Since when the member has been suspect without a break.
    var suspectSince: ContinuousClock.Instant?
    /// The first one is as old as the window, or older: at most the messages of a window.
    private var samples: [Sample] = []
    private let window: Duration

    init(window: Duration) { self.window = window }

    mutating func note(has: Int, at now: ContinuousClock.Instant) {
        hadBefore = self.has
        self.has = has
        samples.append(Sample(at: now, has: has))
        while samples.count > 1, samples[1].at <= now - window { samples.removeFirst() }
        if let rate = rate(at: now) { best = max(best, rate) }
    }

    /// Forgets all rates: the sender's rate has another number of chains.
    mutating func forgetRates() {
        samples = samples.suffix(1)
        best = 0
    }

    /// Blocks a second over the window; nil for a member that has been known for a shorter time.
    func rate(at now: ContinuousClock.Instant) -> Double? {
        guard let old = samples.last(where: { $0.at <= now - window }) else { return nil }
        return Double(has - old.has) / ((now - old.at) / .seconds(1))
    }
}
