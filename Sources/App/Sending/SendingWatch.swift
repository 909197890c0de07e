package import Control
package import Sharing
import Synchronization

/// Sees how far sendings are.
package protocol SendingWatch: Sendable {
    /// Bytes have moved. Returns soon; called from any thread.
    func moved(_ transfer: TransferSummary, _ cancellation: Cancellation)
    /// A sending of which bytes have moved is over; `end` has the outcome.
    func ended(_ transfer: TransferSummary) async
}

/// One sending, as a watch sees it.
final class WatchedSending: Sendable {
    private let watch: any SendingWatch
    private let summary = Mutex<TransferSummary?>(nil)

    init(_ watch: any SendingWatch) { self.watch = watch }

    func began(_ offer: Offer, to reference: String) {
        summary.withLock { $0 = TransferSummary(.out, offer, peer: nil, peerName: reference) }
    }

    func connected(to peer: PeerID) {
        summary.withLock { $0?.peer = peer.provenText }
    }

    func moved(_ bytes: UInt64, of total: UInt64?, _ cancellation: Cancellation) {
        let moved = summary.withLock { summary in
            summary?.bytes = bytes
            summary?.total = total
            return summary
        }
        if let moved { watch.moved(moved, cancellation) }
    }

    /// - Parameter end: the outcome, in one line.
    func ended(_ end: String) async {
        guard var summary = summary.withLock({ $0 }), summary.bytes != nil else { return }
        summary.end = end
        await watch.ended(summary)
    }
}
