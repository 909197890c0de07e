package import NIOCore
private import Synchronization

/// Ends a connection on which the other side keeps us waiting for too long.
///
/// The waiting code calls `expect` before and `rest` after each wait. Both are a few atomic stores, which the hot path
/// can afford; a repeated task on the event loop checks the clock.
package final class SilenceWatch: ChannelInboundHandler, Sendable {
    package typealias InboundIn = NIOAny

    /// Uptime in nanoseconds after which the silence has lasted too long; `.max`: no code is waiting.
    private let deadline = Atomic<UInt64>(.max)
    /// Uptime in nanoseconds when the waiting last began.
    private let beginning = Atomic<UInt64>(0)
    /// Nanoseconds of further silence that a sign of life allows.
    private let timeout = Atomic<UInt64>(0)
    /// Uptime in nanoseconds beyond which signs of life do not extend the wait.
    private let end = Atomic<UInt64>(0)
    private let hasExpired = Atomic<Bool>(false)
    private let hasFailed = Atomic<Bool>(false)
    private let interval: TimeAmount

    /// - Parameter interval: how often the deadline is checked.
    package init(interval: TimeAmount = .seconds(1)) {
        self.interval = interval
    }

    /// From now on, the other side must act within `timeout`.
    ///
    /// - Parameter maximum: the longest wait if signs of life extend it; nil: they do not.
    package func expect(within timeout: Duration, atMost maximum: Duration? = nil) {
        let wait = Self.nanoseconds(timeout)
        let most = maximum.map(Self.nanoseconds) ?? wait
        let now = NIODeadline.now().uptimeNanoseconds
        beginning.store(now, ordering: .relaxed)
        self.timeout.store(wait, ordering: .relaxed)
        end.store(now + most, ordering: .relaxed)
        deadline.store(now + min(wait, most), ordering: .relaxed)
    }

    /// The other side has shown that it is alive: `timeout` starts again, within the maximum. Has no effect unless
    /// code is waiting.
    func signOfLife() {
        let before = deadline.load(ordering: .relaxed)
        let later = min(
            NIODeadline.now().uptimeNanoseconds + timeout.load(ordering: .relaxed), end.load(ordering: .relaxed))
        guard before != .max, later > before else { return }
        // Another thread may have begun another wait meanwhile, or ended this one.
        _ = deadline.compareExchange(expected: before, desired: later, ordering: .relaxed)
    }

    private static func nanoseconds(_ duration: Duration) -> UInt64 {
        // Clamped so that nothing overflows: longer waits count as a century, negative ones as zero.
        let (seconds, attoseconds) = min(max(duration, .zero), .seconds(100 * 366 * 86_400)).components
        return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    }

    /// When code last began to wait: until then the other side caused no delay.
    var lastExpected: NIODeadline { .uptimeNanoseconds(beginning.load(ordering: .relaxed)) }

    /// Ends the wait for the other side.
    package func rest() {
        deadline.store(.max, ordering: .relaxed)
    }

    /// Whether this watch closed the connection.
    package var expired: Bool { hasExpired.load(ordering: .relaxed) }

    /// Whether the connection below had an error, such as an end without TLS's `close_notify`.
    var hasSeenError: Bool { hasFailed.load(ordering: .relaxed) }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        hasFailed.store(true, ordering: .relaxed)
        context.fireErrorCaught(error)
    }

    package func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        let task = context.eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { task in
            guard NIODeadline.now().uptimeNanoseconds > self.deadline.load(ordering: .relaxed) else { return }
            self.hasExpired.store(true, ordering: .relaxed)
            task.cancel()
            channel.close(promise: nil)
        }
        channel.closeFuture.whenComplete { _ in task.cancel() }
    }
}
