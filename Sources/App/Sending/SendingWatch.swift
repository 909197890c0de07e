package import Lines
package import Sharing
import Synchronization

/// Sees how far sendings are.
package protocol SendingWatch: Sendable {
    /// Bytes have moved. Returns soon; called from any thread.
    func moved(_ transfer: MovingLine, _ cancellation: Cancellation)
    /// A sending of which bytes have moved is over; it has its end.
    func ended(_ transfer: MovingLine) async
}

/// One sending, as a watch sees it.
final class WatchedSending: Sendable {
    private let watch: any SendingWatch
    private let summary = Mutex<MovingLine?>(nil)

    init(_ watch: any SendingWatch) { self.watch = watch }

    func began(_ offer: Offer, to reference: String) {
        summary.withLock { $0 = MovingLine(sending: offer, to: reference) }
    }

    func moved(_ bytes: UInt64, of total: UInt64?, _ cancellation: Cancellation) {
        let moved = summary.withLock { summary in
            summary?.bytes = bytes
            summary?.total = total
            return summary
        }
        if let moved { watch.moved(moved, cancellation) }
    }

    /// - Parameter reason: why not everything is stored; nil if it is.
    func ended(_ reason: String?) async {
        guard var summary = summary.withLock({ $0 }), summary.bytes != nil else { return }
        summary.end(reason)
        await watch.ended(summary)
    }
}
