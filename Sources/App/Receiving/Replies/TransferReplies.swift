import Control
import Lines
import Outbox
import Sending
import Sharing

/// Answers the requests about the transfers that move.
struct TransferReplies: Sendable {
    let moving: MovingTransfers
    let reception: Reception
    let outbox: OutboxService

    init(_ parts: ReceiverParts) {
        (moving, reception, outbox) = (parts.plan.listeners.moving, parts.reception, parts.network.outbox)
    }

    var all: ControlReply { .transfers(moving.all(accepted: reception.underWay)) }

    func reported(_ transfer: MovingLine) -> ControlReply { moving.reported(transfer) ? .cancelled : .done }

    func cancel(_ transfer: String) async -> ControlReply {
        if let id = TransferID(transfer), reception.cancel(id) { return .done }
        if let reply = await outbox.cancel(transfer: transfer) { return reply }
        return moving.cancel(transfer) ? .done : .unknown("no such transfer moves now")
    }
}

extension TransferReplies: StatusGiving {
    func fill(_ status: inout StatusLine) {
        status.transfers = Array(
            moving.all(accepted: reception.underWay).filter { !$0.isOver }.prefix(StatusLine.shownTransfers))
        let jobs = outbox.summary
        (status.waitingJobs, status.sendingJobs, status.failedJobs) = (jobs.waiting, jobs.sending, jobs.failed)
    }
}
