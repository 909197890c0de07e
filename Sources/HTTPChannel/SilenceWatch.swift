package import NIOCore
private import Synchronization

/// Ends a connection on which the other side keeps us waiting for too long.
///
/// The one who waits says so: `expect` before, `rest` after. That is three atomic stores an event, so that the hot path
/// can afford it; the clock is looked at by a repeated task on the event loop.
package final class SilenceWatch: ChannelInboundHandler, Sendable {
    package typealias InboundIn = NIOAny

    /// Uptime in nanoseconds after which the silence has lasted too long; `.max`: nobody is waiting.
    private let deadline = Atomic<UInt64>(.max)
    /// Uptime in nanoseconds when the waiting last began.
    private let beginning = Atomic<UInt64>(0)
    private let hasExpired = Atomic<Bool>(false)
    private let interval: TimeAmount

    /// - Parameter interval: how often the deadline is looked at.
    package init(interval: TimeAmount = .seconds(1)) {
        self.interval = interval
    }

    /// From now on, something has to happen within `patience`.
    package func expect(within patience: Duration) {
        // A century is for ever, and a wait that should be over already is none.
        let (seconds, attoseconds) = min(max(patience, .zero), .seconds(100 * 366 * 86_400)).components
        let wait = UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
        let now = NIODeadline.now().uptimeNanoseconds
        beginning.store(now, ordering: .relaxed)
        deadline.store(now + wait, ordering: .relaxed)
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
