import Sharing
import Streams

extension OutboxEngine {
    /// Sends the open items of a job once.
    func attempt(
        _ record: OutboxStore.Record, wasOffered: Bool, _ party: OutboxParty?, _ cancellation: Cancellation
    ) async -> OutboxResult {
        let (job, standing) = (record.job, record.standing)
        let open = job.items.indices.filter { standing.outcomes[$0] == nil }
        do throws(OutboxJobError) {
            guard let transfer = TransferID(standing.transfer) else {
                throw OutboxJobError(.unexpected, "job \(job.number) of the outbox is damaged", isFinal: true)
            }
            let store = self.store
            let shipment = OutboxShipment(
                job: job, open: open,
                sources: { items throws(OutboxJobError) in try OutboxSources.make(job, items, in: store) },
                transfer: transfer, peer: job.destination.key ?? standing.peer, wasOffered: wasOffered,
                offered: standing.offered ?? Array(job.items.indices), party: party,
                progressed: { bytes, total in
                    self.board.note(
                        OutboxProgress(job: job.number, bytes: bytes, total: total), at: self.clock.uptime())
                })
            return await sender.send(shipment, cancellation: cancellation) { step throws(OutboxError) in
                try store.note(step, job.number)
            }
        } catch {
            return OutboxResult(failure: error)
        }
    }
}

extension OutboxStore {
    /// Records a step on the disk before the attempt continues.
    fileprivate func note(_ step: OutboxStep, _ number: JobNumber) throws(OutboxError) {
        let record = try change(number) { job, standing in
            guard standing.state == .sending else { return false }
            switch step {
            case .settled(let outcomes): standing.settle(outcomes)
            case .offering(let transfer, let items, let peer, let name):
                let isWhole = items.count == job.items.count
                standing.offer(as: transfer, isWhole ? nil : items, to: peer, callingItself: name)
            }
            return true
        }
        guard record != nil else { throw OutboxError(.unfit, "the job was cancelled") }
    }
}
