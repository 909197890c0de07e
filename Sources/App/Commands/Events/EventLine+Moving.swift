import Control
import Lines

extension EventLine {
    /// A transfer that moves, or has just ended.
    struct Moving: Encodable {
        var transfer: String
        var way: String
        var from: Peer?
        /// The other side, as it was named.
        var to: String?
        /// The first item.
        var name: String
        var count: Int
        var bytes: UInt64?
        var total: UInt64?
        /// Bytes a second.
        var rate: UInt64?
        var secondsLeft: UInt64?
        /// Present for one that has ended.
        var over: Bool?
        /// Why one that has ended is not stored.
        var reason: String?

        init(_ summary: TransferSummary) {
            transfer = summary.transfer
            way = summary.way.rawValue
            switch summary.way {
            case .in:
                from = Peer(
                    id: summary.peer, name: summary.peerName, contact: summary.contact, claims: summary.claims)
            case .out: to = summary.peerName
            }
            (name, count, bytes, total) = (summary.name, summary.itemCount, summary.bytes, summary.total)
            if let end = summary.end { (over, reason) = (true, end == TransferSummary.stored ? nil : end) }
            guard over == nil, let rate = summary.rate, rate >= 1 else { return }
            // A size that a peer has claimed may be too large for a number of seconds.
            self.rate = UInt64(exactly: rate.rounded())
            if let total, let bytes, total >= bytes {
                secondsLeft = UInt64(exactly: (Double(total - bytes) / rate).rounded())
            }
        }
    }
}
