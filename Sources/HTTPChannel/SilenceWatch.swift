package import NIOCore
private import Synchronization

/// Ends a connection on which the other side keeps us waiting for too long.
///
/// The one who waits says so: `expect` before, `rest` after. That is a few atomic stores an event, so that the hot path
/// can afford it; the clock is looked at by a repeated task on the event loop.
package final class SilenceWatch: ChannelInboundHandler, Sendable {
    package typealias InboundIn = NIOAny

    /// Uptime in nanoseconds after which the silence has lasted too long; `.max`: nobody is waiting.
    private let deadline = Atomic<UInt64>(.max)
    /// Uptime in nanoseconds when the waiting last began.
    private let beginning = Atomic<UInt64>(0)
    /// Nanoseconds that a sign of life is good for.
    private let patience = Atomic<UInt64>(0)
    /// Uptime in nanoseconds beyond which no sign of life draws the waiting out.
    private let end = Atomic<UInt64>(0)
    private let hasExpired = Atomic<Bool>(false)
    private let interval: TimeAmount

    /// - Parameter interval: how often the deadline is looked at.
    package init(interval: TimeAmount = .seconds(1)) {
        self.interval = interval
    }

    /// From now on, something has to happen within `patience`.
    ///
    /// - Parameter maximum: how long signs of life can draw the waiting out; nil: they cannot.
    package func expect(within patience: Duration, atMost maximum: Duration? = nil) {
        let wait = Self.nanoseconds(patience)
        let most = maximum.map(Self.nanoseconds) ?? wait
        let now = NIODeadline.now().uptimeNanoseconds
        beginning.store(now, ordering: .relaxed)
        self.patience.store(wait, ordering: .relaxed)
        end.store(now + most, ordering: .relaxed)
        deadline.store(now + min(wait, most), ordering: .relaxed)
    }

    /// The other side has shown that it is alive: it gets the same patience anew, as far as the maximum allows. Nothing happens
    /// where nobody waits.
    func signOfLife() {
        let before = deadline.load(ordering: .relaxed)
        let later = min(
            NIODeadline.now().uptimeNanoseconds + patience.load(ordering: .relaxed), end.load(ordering: .relaxed))
        guard before != .max, later > before else { return }
        // Another thread may have begun to wait for something else, or have ceased to.
        _ = deadline.compareExchange(expected: before, desired: later, ordering: .relaxed)
    }

    private static func nanoseconds(_ duration: Duration) -> UInt64 {
        // A century is for ever, and a wait that should be over already is none.
        let (seconds, attoseconds) = min(max(duration, .zero), .seconds(100 * 366 * 86_400)).components
        return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    }

    /// When something was last expected: until then the other side was not kept waiting.
    var lastExpected: NIODeadline { .uptimeNanoseconds(beginning.load(ordering: .relaxed)) }

    /// Nobody is waiting for the other side.
    package func rest() {
        deadline.store(.max, ordering: .relaxed)
    }

    /// Whether it was this watch that closed the connection.
    package var expired: Bool { hasExpired.load(ordering: .relaxed) }

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
