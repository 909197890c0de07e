import Sharing

/// The waits between attempts: longer and longer as long as nothing moves.
struct WaftSendPause {
    private(set) var count = 0
    private var length: Duration = shortest

    private static let shortest: Duration = .milliseconds(250)
    private static let longest: Duration = .seconds(5)
    /// Time until a user's request to stop is noticed.
    private static let slice: Duration = .milliseconds(100)

    /// Makes the next pause as short as the first.
    mutating func shorten() { length = Self.shortest }

    /// - Throws: `SendError` `cancelled`.
    mutating func take(atMost limit: Duration = longest, _ cancellation: Cancellation) async throws(SendError) {
        // Random lengths, so that senders that were refused together do not return together.
        let end = ContinuousClock.now + min(length * Double.random(in: 0.75...1.25), limit)
        while ContinuousClock.now < end, !cancellation.isRequested, !Task.isCancelled {
            try? await Task.sleep(for: min(Self.slice, length))
        }
        if cancellation.isRequested || Task.isCancelled { throw SendError(.cancelled, "cancelled") }
        count += 1
        length = min(length * 2, Self.longest)
    }
}
