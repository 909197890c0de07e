import Foundation
package import Sharing

/// The time as the outbox needs it: what is written down, and how to wait. Tests bring their own.
package struct OutboxClock: Sendable {
    /// The wall clock, for what is written down.
    package var now: @Sendable () -> WallTime
    /// Time that has passed since some moment, whatever is done to the clock on the wall.
    package var uptime: @Sendable () -> Duration
    package var sleep: @Sendable (Duration) async throws -> Void
    /// After how long the wall clock is believed when something is to be given up or forgotten.
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

    /// The machine's. While it is suspended time passes too: what was due meanwhile is tried when it wakes.
    package static let system = {
        let start = ContinuousClock.now
        return OutboxClock(
            now: { WallTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000)) },
            uptime: { ContinuousClock.now - start },
            sleep: { try await Task.sleep(for: $0) }
        )
    }()
}
