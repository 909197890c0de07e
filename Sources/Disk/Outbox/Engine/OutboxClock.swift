package import Sharing

/// The clocks and the timer of the outbox. Tests supply their own.
package struct OutboxClock: Sendable {
    /// The wall clock, for recorded times.
    package var now: @Sendable () -> WallTime
    /// The time since a fixed moment; changes of the wall clock do not affect it.
    package var uptime: @Sendable () -> Duration
    package var sleep: @Sendable (Duration) async throws -> Void
    /// The time after which the wall clock is trusted for giving up and forgetting jobs.
    package var settling: Duration

    package init(
        now: @escaping @Sendable () -> WallTime,
        uptime: @escaping @Sendable () -> Duration,
        sleep: @escaping @Sendable (Duration) async throws -> Void,
        settling: Duration = CautiousClock.settling
    ) {
        self.now = now
        self.uptime = uptime
        self.sleep = sleep
        self.settling = settling
    }

    /// The clocks of the machine. They also advance during suspend: overdue jobs are tried when the machine wakes.
    package static let system = {
        let start = ContinuousClock.now
        return OutboxClock(
            now: { .now },
            uptime: { ContinuousClock.now - start },
            sleep: { try await Task.sleep(for: $0) }
        )
    }()
}
