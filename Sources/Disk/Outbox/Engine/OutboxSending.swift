package import Sharing

/// The input of the network for one attempt at a job.
package struct OutboxShipment: Sendable {
    package var job: OutboxJob
    /// Indices of the unsettled items in the job.
    package var open: [Int]
    /// Opens the sources of the items at these indices, in the given order; blocks on the disk. A source changed since
    /// queueing is a final failure; even then the peer must be asked whether it already has the items.
    package var sources: @Sendable ([Int]) throws(OutboxJobError) -> [any ItemSource]
    /// The identifier of the earlier offer, or of the next one.
    package var transfer: TransferID
    /// The required key of the peer; nil allows any peer of that name.
    package var peer: PeerID?
    /// Whether `peer` may already have the offer; then the peer is asked for its receipt first.
    package var wasOffered: Bool
    /// Indices in the job of the items that were offered in `transfer`.
    package var offered: [Int]
    /// Nil for a job that is sent by itself.
    package var party: OutboxParty?
    /// Called during sending: bytes handed over, and total bytes (nil if unknown).
    package var progressed: @Sendable (UInt64, UInt64?) -> Void
}

/// The jobs of one command that are tried together, and one of them.
package struct OutboxParty: Hashable, Sendable {
    /// Never given twice by one ledger: a job that is tried again may begin another party while its former one is under way.
    package var id: UInt64
    /// The number of the first one.
    package var first: JobNumber
    /// Two or more.
    package var members: Int
    /// The place of this one, from 0 on.
    package var member: Int
}

/// A step of an attempt that is recorded before the attempt continues.
package enum OutboxStep: Sendable {
    /// The peer's answer about an earlier attempt.
    case settled([Int: SettledItem])
    /// The offer is about to be sent.
    case offering(TransferID, [Int], to: PeerID, callingItself: String?)
}

/// The end of an attempt.
package struct OutboxResult: Sendable {
    /// The outcomes of the settled items, by the items' indices in the job.
    package var outcomes: [Int: SettledItem]
    /// Why items are left; nil if none is left.
    package var failure: OutboxJobError?

    package init(outcomes: [Int: SettledItem] = [:], failure: OutboxJobError? = nil) {
        self.outcomes = outcomes
        self.failure = failure
    }
}

/// A peer that has become visible.
package struct OutboxAppearance: Sendable, Hashable {
    package var id: PeerID
    /// The peer's own name, if known.
    package var name: String?

    package init(id: PeerID, name: String?) {
        self.id = id
        self.name = name
    }

    /// Whether a job may be for this peer.
    func matches(_ record: OutboxStore.Record) -> Bool {
        if let key = record.job.destination.key ?? record.standing.peer { return key == id }
        let text = record.job.destination.text
        return name.map { TypedName.means(text, $0) } ?? false || id.hasPrefix(text)
    }
}

/// The network in the form that the outbox needs.
package protocol OutboxSending: Sendable {
    /// Sends the open items of a job, on threads that may block on the disk. Breaks off and returns soon after the task
    /// is cancelled. A request of `cancellation` makes it notify the peer.
    ///
    /// - Parameter note: records a step and blocks on the disk; if it throws, the attempt ends before an offer.
    func send(
        _ shipment: OutboxShipment,
        cancellation: Cancellation,
        note: @escaping @Sendable (OutboxStep) throws(OutboxError) -> Void
    ) async -> OutboxResult

    /// The visible peers first, then peers as they become visible; ends when peers cannot be seen.
    func appearances() -> AsyncStream<OutboxAppearance>
}
