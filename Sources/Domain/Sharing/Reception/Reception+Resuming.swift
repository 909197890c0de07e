import Digests

extension Reception {
    /// Reads the kept files of an accepted transfer whose contents have not begun, and computes their digests.
    ///
    /// The transfer stands for as long as this takes, and for the usual time after it.
    /// - Parameter found: called for each file with its item's number; returns whether to continue.
    /// - Throws: `notAccepted`, as `begin`.
    package func readKept(
        of id: TransferID, from peer: PeerID, found: (Int, KeptFile) -> Bool
    ) throws(TransferError) {
        guard let (offer, verdict) = holdOpen(id, from: peer, for: Self.keptReading) else {
            throw TransferError(.notAccepted, "no accepted offer covers this transfer")
        }
        defer { _ = holdOpen(id, from: peer, for: Limits.contentsWait) }
        var goesOn = true
        for (number, item) in offer.items.enumerated() where goesOn && verdict.items[number].answer == .accepted {
            let protection = verdict.items[number].destination.protection ?? .none
            guard let key = PartialKey(item, from: peer, protection: protection) else { continue }
            inbox.readKept(key, .lasting) { file in
                goesOn = found(number, file)
                return goesOn
            }
        }
    }

    /// Longer than any disk takes to read the kept parts.
    private static let keptReading: Duration = .seconds(86_400)
}
