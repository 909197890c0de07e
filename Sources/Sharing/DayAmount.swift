/// Of whom the bytes of a day are counted together.
package enum AmountSender: Hashable, Sendable {
    /// Whoever has this key.
    case peer(PeerID)
    /// All who come by a protocol in which nobody proves a key.
    case dialect(Dialect)

    package init(_ peer: PeerID, by dialect: Dialect) {
        self = dialect == .waft ? .peer(peer) : .dialect(dialect)
    }

    func includes(_ peer: PeerID, by dialect: Dialect) -> Bool { self == AmountSender(peer, by: dialect) }
}

/// The last 24 hours by the wall clock.
package struct Day: Hashable, Sendable {
    package static let milliseconds: Int64 = 86_400_000

    /// What came later than this counts.
    package let start: WallTime
    /// What came later than this does not: the clock was far ahead then, and has been set back.
    package let end: WallTime

    package init(until time: WallTime) {
        func shifted(_ by: Int64) -> WallTime {
            let (sum, overflow) = time.milliseconds.addingReportingOverflow(by)
            return overflow ? time : WallTime(milliseconds: sum)
        }
        (start, end) = (shifted(-Self.milliseconds), shifted(Self.milliseconds))
    }
}

/// What the domain needs to know of the journal to bound what comes in a day. Calls may block on the disk.
package protocol AmountReading: Sendable {
    /// Bytes of what a sender has sent on a day and was stored, wherever it is now.
    func received(from sender: AmountSender, on day: Day) throws(JournalFault) -> UInt64
}

extension Reception {
    /// Bytes that will have come from whoever offers something in the 24 hours before now, with this offer: what was
    /// stored, what is under way, and what of the offer is not here already.
    ///
    /// - Returns: nil where that cannot be known.
    package func amountOfDay(
        with offer: Offer, from peer: PeerID, at time: WallTime, _ reading: any AmountReading
    ) -> UInt64? {
        let sender = AmountSender(peer, by: offer.dialect)
        guard let received = try? reading.received(from: sender, on: Day(until: time)) else { return nil }
        let parts = [
            bytesUnderWay(of: sender, besides: offer.transfer), coming(of: offer, from: peer).knownSize,
        ]
        return parts.reduce(received) { sum, part in
            let (total, overflow) = sum.addingReportingOverflow(part)
            return overflow ? .max : total
        }
    }
}
