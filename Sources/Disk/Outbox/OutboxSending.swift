package import Sharing

/// What is handed to the network: one attempt at a job.
package struct OutboxShipment: Sendable {
    package var job: OutboxJob
    /// Places in the job of the items that are not settled.
    package var open: [Int]
    /// Opens the sources of such items, in the order given; blocks on the disk. What has changed since it was queued is a
    /// final failure, which must not keep the peer from being asked whether it has the items already.
    package var sources: @Sendable ([Int]) throws(OutboxFailure) -> [any ItemSource]
    /// The number under which it was offered before, or is to be.
    package var transfer: TransferID
    /// Whose key it has to be; nil for anybody of that name.
    package var peer: PeerID?
    /// Whether it may have been offered to `peer` already: the peer is asked for its receipt before anything else.
    package var wasOffered: Bool
    /// Places in the job of the items that `transfer` has, where it was offered.
    package var offered: [Int]
    /// To be called as it goes: bytes handed over, and of how many (nil where that is not known).
    package var progressed: @Sendable (UInt64, UInt64?) -> Void
}

/// What happens in an attempt that has to be written down before it goes on.
package enum OutboxStep: Sendable {
    /// What the peer says of an earlier attempt.
    case settled([Int: OutboxOutcome])
    /// It is about to be offered.
    case offering(TransferID, [Int], to: PeerID, callingItself: String?)
}

/// How an attempt ended.
package struct OutboxResult: Sendable {
    /// What is settled, by the items' places in the job.
    package var outcomes: [Int: OutboxOutcome]
    /// Why something is left; nil where nothing is.
    package var failure: OutboxFailure?

    package init(outcomes: [Int: OutboxOutcome] = [:], failure: OutboxFailure? = nil) {
        self.outcomes = outcomes
        self.failure = failure
    }
}

/// A peer that has come into view.
package struct OutboxAppearance: Sendable, Hashable {
    package var id: PeerID
    /// What it calls itself, where it tells.
    package var name: String?

    package init(id: PeerID, name: String?) {
        self.id = id
        self.name = name
    }

    /// Whether a job may be for it.
    func matches(_ record: OutboxStore.Record) -> Bool {
        if let key = record.job.destination.key ?? record.standing.peer { return key == id }
        let text = record.job.destination.text
        return name?.lowercased() == text.lowercased() || id.hasPrefix(text)
    }
}

/// The network as the outbox needs it.
package protocol OutboxSending: Sendable {
    /// Sends what is open of a job; calls are made on threads that may block on the disk. Returns soon after the task is cancelled, breaking off; when `cancellation` is
    /// requested the peer is told.
    ///
    /// - Parameter note: writes down a step, blocking on the disk; what throws ends the attempt before anything is offered.
    func send(
        _ shipment: OutboxShipment,
        cancellation: Cancellation,
        note: @escaping @Sendable (OutboxStep) throws(OutboxError) -> Void
    ) async -> OutboxResult

    /// Peers as they come into view, those that are in view first; ends when nothing can be seen.
    func appearances() -> AsyncStream<OutboxAppearance>
}
