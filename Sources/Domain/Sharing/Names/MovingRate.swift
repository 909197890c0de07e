/// The speed of something that moves: the last seconds count, not the whole.
package struct MovingRate: Sendable {
    private var samples: [(time: ContinuousClock.Instant, bytes: UInt64)] = []

    /// Time over which the speed is taken.
    private static let window: Duration = .seconds(5)

    package init() {}

    /// - Parameter bytes: bytes that have moved until now.
    package mutating func note(_ bytes: UInt64, at now: ContinuousClock.Instant) {
        samples.append((now, bytes))
        while samples.count > 2, now - samples[0].time > Self.window { samples.removeFirst() }
    }

    /// Bytes a second; nil before there is anything to say.
    package var bytesPerSecond: Double? {
        guard let first = samples.first, let last = samples.last, last.bytes > first.bytes else { return nil }
        let time = (last.time - first.time) / .seconds(1)
        return time > 0.05 ? Double(last.bytes - first.bytes) / time : nil
    }
}
