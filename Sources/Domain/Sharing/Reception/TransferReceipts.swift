private import Synchronization

/// The receipts of transfers that have ended, and the tasks that wait for the handlers' answers in them.
final class TransferReceipts: Sendable {
    private typealias Waiter = CheckedContinuation<Receipt?, Never>

    private struct Waiters {
        /// By the number that the ledger knows.
        var waiting: [Int: Waiter] = [:]
        var last = 0
    }

    private let transfers: OpenTransfers
    private let inbox: any InboxStoring
    private let journal: any ArrivalJournal
    private let delivery: any Delivering
    /// Taken inside the lock of the ledger where both change.
    private let waiters = Mutex(Waiters())

    init(
        _ transfers: OpenTransfers, inbox: any InboxStoring, journal: any ArrivalJournal, delivery: any Delivering
    ) {
        (self.transfers, self.inbox, self.journal, self.delivery) = (transfers, inbox, journal, delivery)
    }

    // MARK: Waiting

    /// The receipt of a transfer that has ended, with the handlers' answers so far.
    /// - Parameter answered: wait until all handlers have answered.
    /// - Returns: nil for a transfer that is unknown, another's, or when the task was cancelled while waiting.
    func receipt(of id: TransferID, from peer: PeerID, answered: Bool) async -> Receipt? {
        if case .unknown = transfers.with({ $0.receipt(of: id, from: peer, waiter: nil) }) {
            guard let (receipt, unanswered) = journalledReceipt(of: id, from: peer) else { return nil }
            guard answered, !unanswered.isEmpty else { return receipt }
            // An earlier process was about to ask the handlers; this one asks them.
            var open = receipt
            for arrival in unanswered { open.items[arrival.itemNumber].handler = HandlerAnswer(.none) }
            change { [open] ledger in
                // It may have begun again meanwhile.
                guard case .unknown = ledger.receipt(of: id, from: peer, waiter: nil) else { return ([], ()) }
                return ([ledger.end(id, from: peer, open)], ())
            }
            for arrival in unanswered { note(HandlerAnswer(.pending), for: arrival) }
            follow(unanswered)
        }
        let number = waiters.withLock { waiters in
            waiters.last += 1
            return waiters.last
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: Waiter) in
                let now: Receipt?? = transfers.with { ledger in
                    // Cancelled before it is entered: nothing would resume it.
                    if answered, Task.isCancelled { return .some(nil) }
                    switch ledger.receipt(of: id, from: peer, waiter: answered ? number : nil) {
                    case .unknown, .none: return .some(nil)
                    case .receipt(let receipt): return receipt
                    case .waiting:
                        waiters.withLock { $0.waiting[number] = continuation }
                        return nil
                    }
                }
                if let now { continuation.resume(returning: now) }
            }
        } onCancel: {
            let continuation = transfers.with { ledger in
                ledger.forget(waiter: number, of: id)
                return waiters.withLock { $0.waiting.removeValue(forKey: number) }
            }
            continuation?.resume(returning: nil)
        }
    }

    /// Changes the ledger, and resumes the tasks whose receipts are complete now.
    func change<Result: Sendable>(
        _ change: (inout TransferLedger) -> (answered: [TransferLedger.Answered], result: Result)
    ) -> Result {
        let (ready, result) = transfers.with { ledger in
            let (answered, result) = change(&ledger)
            let ready = answered.flatMap { answered in
                answered.waiters.compactMap { number in
                    waiters.withLock { $0.waiting.removeValue(forKey: number) }.map { ($0, answered.receipt) }
                }
            }
            return (ready, result)
        }
        for (waiter, receipt) in ready { waiter.resume(returning: receipt) }
        return result
    }

    // MARK: Answers

    /// A handler has answered, or is about to be asked.
    func note(_ answer: HandlerAnswer, for arrival: Arrival) {
        change { ledger in (ledger.note(answer, for: arrival).map { [$0] } ?? [], ()) }
    }

    /// Hears the answers to arrivals whose delivery began before: of this process or of an earlier one.
    func follow(_ arrivals: [Arrival]) {
        if arrivals.isEmpty { return }
        delivery.follow(arrivals) { [self] arrival, answer in
            if let answer { return note(answer, for: arrival) }
            let state = try? journal.deliveryState(of: arrival.number)
            let known = HandlerAnswer((state ?? nil) ?? .none)
            note(known.state == .pending ? HandlerAnswer(.later) : known, for: arrival)
        }
    }

    /// The journal's receipt of a transfer that an earlier process received, or that was forgotten here. Items without
    /// an entry were not stored. Nil also while an item is locked: only its owner can tell its digest.
    /// - Returns: with the items whose handlers have not answered.
    private func journalledReceipt(
        of id: TransferID, from peer: PeerID
    ) -> (receipt: Receipt, unanswered: [Arrival])? {
        guard let all = try? journal.arrivals(of: id, from: peer), let first = all.first,
            (1...Limits.items).contains(first.itemsInOffer)
        else { return nil }
        // A peer may have offered the transfer again with another number of items.
        let arrivals = all.filter {
            $0.itemsInOffer == first.itemsInOffer && (0..<first.itemsInOffer).contains($0.itemNumber)
        }
        var receipt = Receipt(
            transfer: id, items: Array(repeating: ItemReceipt(.notSent), count: first.itemsInOffer))
        for arrival in arrivals {
            guard let digests = inbox.contentDigests(of: arrival) else { return nil }
            receipt.items[arrival.itemNumber] = EarlierArrivals.receipt(of: arrival, digests, journal)
        }
        return (receipt, arrivals.filter { receipt.items[$0.itemNumber].handler.state == .pending })
    }
}
