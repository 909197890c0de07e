package import Sharing

/// The clocks of deliveries: for records and for waiting. Tests bring their own.
package struct DeliveryClock: Sendable {
    /// The wall clock, for records.
    package var now: @Sendable () -> WallTime
    /// Time since a fixed moment. Changes of the wall clock do not affect it.
    package var uptime: @Sendable () -> Duration
    package var sleep: @Sendable (Duration) async throws -> Void

    package init(
        now: @escaping @Sendable () -> WallTime,
        uptime: @escaping @Sendable () -> Duration,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.now = now
        self.uptime = uptime
        self.sleep = sleep
    }

    /// The clock of the system.
    package static let system = {
        let start = ContinuousClock.now
        return DeliveryClock(
            now: { .now },
            uptime: { ContinuousClock.now - start },
            sleep: { try await Task.sleep(for: $0) }
        )
    }()
}

/// When a handler that wants more time is asked again.
package enum DeliveryBackoff {
    /// How long deliveries are tried before they are parked, in milliseconds: a day.
    static let timeout: Int64 = 24 * 3_600_000

    /// - Parameter deferrals: how often the handler has asked for more time before, 0 and up.
    /// - Returns: milliseconds: one second, doubling up to ten minutes, then hours.
    static func delay(after deferrals: Int) -> Int64 {
        switch deferrals {
        case ..<0: 1_000
        case ..<10: 1_000 << Int64(deferrals)
        case 10: 600_000
        default: 3_600_000
        }
    }

    /// The next step after a handler has asked for more time.
    package static func step(after delivery: WaitingDelivery, at now: WallTime) -> DeliveryStep {
        let since = delivery.deferredSince ?? now
        if now.milliseconds.subtractingReportingOverflow(since.milliseconds).partialValue >= timeout {
            return .ended(.parked)
        }
        let until = WallTime(milliseconds: now.milliseconds &+ delay(after: delivery.deferrals))
        return .deferred(until: until, since: since, deferrals: delivery.deferrals + 1)
    }

    /// The remaining wait of a delivery. If the clock was set back, the wait is not longer than its original delay.
    static func wait(for delivery: WaitingDelivery, at now: WallTime) -> Duration {
        let rest = delivery.due.milliseconds.subtractingReportingOverflow(now.milliseconds)
        guard !rest.overflow, rest.partialValue > 0 else { return .zero }
        return .milliseconds(min(rest.partialValue, delay(after: delivery.deferrals - 1)))
    }
}
