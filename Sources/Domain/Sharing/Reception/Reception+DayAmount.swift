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
            transfers.bytesUnderWay(of: sender, besides: offer.transfer), known.coming(of: offer, from: peer).knownSize,
        ]
        return parts.reduce(received) { sum, part in
            let (total, overflow) = sum.addingReportingOverflow(part)
            return overflow ? .max : total
        }
    }
}
