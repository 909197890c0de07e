/// The sender under which the bytes of a day are counted.
package enum AmountSender: Hashable, Sendable {
    /// The peer with this key.
    case peer(PeerID)
    /// All peers of a protocol in which peers prove no key.
    case dialect(Dialect)

    package init(_ peer: PeerID, by dialect: Dialect) {
        self = dialect.provesKeys ? .peer(peer) : .dialect(dialect)
    }

    /// The protocol of the sender; nil for a peer with a key.
    package var dialect: Dialect? {
        if case .dialect(let dialect) = self { dialect } else { nil }
    }

    func includes(_ peer: PeerID, by dialect: Dialect) -> Bool { self == AmountSender(peer, by: dialect) }
}

/// The last 24 hours by the wall clock.
package struct Day: Hashable, Sendable {
    package static let milliseconds: Int64 = 86_400_000

    /// Only arrivals after this time count.
    package let start: WallTime
    /// Arrivals after this time do not count: the clock was far ahead when they came, and was set back since.
    package let end: WallTime

    package init(until time: WallTime) {
        func shifted(_ by: Int64) -> WallTime {
            let (sum, overflow) = time.milliseconds.addingReportingOverflow(by)
            return overflow ? time : WallTime(milliseconds: sum)
        }
        (start, end) = (shifted(-Self.milliseconds), shifted(Self.milliseconds))
    }
}

/// The journal's sums of received bytes, needed to bound the amount of a day. Calls may block on the disk.
package protocol AmountReading: Sendable {
    /// Bytes from a sender that were stored within a day, also if they have left the Inbox since.
    func received(from sender: AmountSender, on day: Day) throws(JournalFault) -> UInt64
}

extension Reception {
    /// Bytes from a sender in the last 24 hours, this offer included: the bytes stored, the bytes under way, and the
    /// bytes of the offer that are not stored yet.
    ///
    /// - Returns: nil if the journal cannot be read.
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
