import Digests

/// The commits of a transfer's whole items, batch by batch, and the receipts of all its items.
///
/// The order of the steps of a commit is that of `IncomingTransfer`.
struct CommitBatch {
    typealias StoredArrival = IncomingTransfer.StoredArrival

    let offer: Offer
    let verdict: Verdict
    let peer: PeerID
    private let storage: ArrivalStorage
    /// The items that an earlier attempt at this transfer has stored, with the digests of their contents.
    private let earlier: [Int: (arrival: Arrival, digests: ContentDigests)]
    private var whole: [WholeItem] = []
    private(set) var receipts: [ItemReceipt]
    /// The number of `turn.storings` that the verdict took into account, plus those of this transfer.
    private var knownStorings: Int

    /// - Parameter earlier: the arrivals of earlier attempts at this transfer.
    init(_ offer: Offer, _ verdict: Verdict, from peer: PeerID, into storage: ArrivalStorage, earlier: [Arrival]) {
        (self.offer, self.verdict, self.peer, self.storage) = (offer, verdict, peer, storage)
        knownStorings = storage.storings
        var receipts = Array(repeating: ItemReceipt(.notSent), count: offer.items.count)
        var stored: [Int: (arrival: Arrival, digests: ContentDigests)] = [:]
        for arrival in earlier
        where offer.items.indices.contains(arrival.itemNumber) && offer.items[arrival.itemNumber] == arrival.item {
            // A locked one is received again: nothing here can tell whether its contents are the same.
            guard let digests = storage.inbox.contentDigests(of: arrival) else { continue }
            stored[arrival.itemNumber] = (arrival, digests)
            receipts[arrival.itemNumber] = EarlierArrivals.receipt(of: arrival, digests, storage.journal)
        }
        (self.earlier, self.receipts) = (stored, receipts)
    }

    var receipt: Receipt { Receipt(transfer: offer.transfer, items: receipts) }

    /// Whether all accepted items are in the Inbox, and how many of them this attempt has put there.
    var tally: (isWhole: Bool, storedNow: Int) {
        var count = 0
        var isWhole = true
        for (number, receipt) in receipts.enumerated() {
            if case .stored = receipt.outcome {
                count += receipt.isAlready || earlier[number] != nil ? 0 : 1
            } else if verdict.items[number].answer == .accepted {
                isWhole = false
            }
        }
        return (isWhole, count)
    }

    /// Items that this transfer has stored before, and whose handlers have not answered.
    var unanswered: [Arrival] {
        earlier.compactMap { receipts[$0].handler.state == .pending ? $1.arrival : nil }
    }

    /// Takes items for the next commit.
    mutating func add(_ items: [WholeItem]) { whole += items }

    /// Prepares the items that are not prepared yet. A refused one fails alone.
    mutating func prepare() {
        for index in whole.indices { whole[index].prepare(offer, verdict, from: peer) }
        for item in whole { if let refusal = item.refusal { setFault(refusal, item.number) } }
        whole.removeAll { $0.refusal != nil }
    }

    /// An item in the Inbox stays stored even if a second attempt at it fails.
    mutating func setFault(_ fault: TransferError, _ number: Int) {
        if earlier[number] == nil { receipts[number] = ItemReceipt(.failed(fault)) }
    }

    /// Keeps the whole items for the next attempt instead of storing them.
    mutating func keep(_ fault: TransferError) {
        prepare()
        for item in whole { item.staged.keep() }
        for item in whole { setFault(fault, item.number) }
        whole = []
    }

    // MARK: Items that are there

    /// Takes an item whose contents are not sent because they are here; see `IncomingTransfer.present`.
    /// - Returns: the item if it was sent again.
    mutating func present(_ number: Int, digest: Digest?) -> [StoredArrival] {
        if let earlier = earlier[number] {
            guard let digest else { return [] }
            if earlier.digests.all.contains(digest) {
                let known = ContentDigests(lasting: digest, sent: digest)
                receipts[number] = EarlierArrivals.receipt(of: earlier.arrival, known, storage.journal)
                return []
            }
        }
        var again: [StoredArrival] = []
        if let digest, takePresent(number, digest, sent: digest, again: &again) { return again }
        // Also for an item of this transfer: the sender means other contents than those that were stored.
        let what = "\(offer.items[number].name) was changed in the Inbox, or has left it"
        receipts[number] = ItemReceipt(.failed(TransferError(.notKept, what)))
        return []
    }

    /// Takes an item that is in the Inbox by another transfer: as it is, or as sent again.
    /// - Returns: false if it is not there.
    private mutating func takePresent(
        _ number: Int, _ digest: Digest, sent: Digest, besides transfer: TransferID? = nil,
        again: inout [StoredArrival]
    ) -> Bool {
        let arrivals = EarlierArrivals(inbox: storage.inbox, journal: storage.journal)
        guard let arrival = arrivals.verified(offer.items[number], from: peer, digest, besides: transfer) else {
            return false
        }
        guard EarlierArrivals.isCall(offer, about: arrival) else {
            receipts[number] = arrivals.receipt(arrival, digest: sent)
            return true
        }
        do throws(TransferError) {
            let call = try arrivals.sendAgain(
                arrival, by: offer, number, verdict.items[number], isDelivered: storage.isDelivered)
            again.append(call)
            receipts[number] = ItemReceipt(call.arrival, digest: sent)
        } catch {
            receipts[number] = ItemReceipt(.failed(error))
        }
        return true
    }

    // MARK: The commit

    /// Moves the whole items into the Inbox. Empties the batch.
    /// - Returns: the items that are in the Inbox now, and those that were sent again.
    mutating func commit() -> [StoredArrival] {
        defer { whole = [] }
        prepare()
        leaveOutRepeated()
        guard !whole.isEmpty else { return [] }
        var arrivals: [StoredArrival] = []
        var again: [StoredArrival] = []
        storage.turn.take { storings in
            if storings != knownStorings { leaveOutPresent(again: &again) }
            if !whole.isEmpty { arrivals = store() }
            knownStorings += arrivals.isEmpty ? 0 : 1
            return !arrivals.isEmpty
        }
        return arrivals + again
    }

    /// Leaves out messages of this transfer that have come before: their sender lost the receipt and sent them again.
    private mutating func leaveOutRepeated() {
        whole.removeAll { [offer, earlier] item in
            guard offer.items[item.number].kind.isMessage, earlier[item.number]?.digests.lasting == item.digest else {
                return false
            }
            item.staged.discard()
            return true
        }
    }

    /// Leaves out items that another transfer of the peer has stored since this one was offered.
    private mutating func leaveOutPresent(again: inout [StoredArrival]) {
        guard offer.dialect.givesReceipts else { return }
        var absent: [WholeItem] = []
        for item in whole {
            if takePresent(
                item.number, item.digest, sent: item.sentDigest, besides: offer.transfer, again: &again)
            {
                item.staged.discard()
            } else {
                absent.append(item)
            }
        }
        whole = absent
    }

    /// The order of the steps keeps every item whole after any crash: contents on the disk, then the journal (intended
    /// arrivals and deliveries), then the Inbox, then the journal again (settled). After a crash between the last two,
    /// the items are found by identity.
    private mutating func store() -> [StoredArrival] {
        var intended = whole.map { item in
            let facts = item.facts(offer, verdict, from: peer)
            return IntendedArrival(
                facts: facts, identity: nil, isDelivered: item.lack == nil && storage.isDelivered(facts))
        }
        var numbers: [ArrivalNumber] = []
        let items = whole.map { item in
            ItemToCommit(
                item.staged, as: item.offered(in: offer).name, in: verdict.items[item.number].destination.folder)
        }
        let results = storage.inbox.commit(items) { identities throws(TransferError) in
            for (index, identity) in zip(intended.indices, identities) { intended[index].identity = identity }
            numbers = try storage.journal.intend(intended)
        }
        // If the journal could not be written, nothing was moved, and all results are failures.
        let outcomes = zip(numbers, results).map { (number: $0, stored: try? $1.get()) }
        let isSettled = outcomes.isEmpty || (try? storage.journal.settle(outcomes)) != nil
        var arrivals: [StoredArrival] = []
        for (index, (item, result)) in zip(whole, results).enumerated() {
            switch result {
            case .success(let place):
                note(item, at: place)
                let arrival = Arrival(number: numbers[index], facts: intended[index].facts, stored: place)
                arrivals.append(
                    StoredArrival(arrival: arrival, awaitsDelivery: isSettled && intended[index].isDelivered))
            case .failure(let fault):
                setFault(fault, item.number)
            }
        }
        if !isSettled {
            // The items are in the Inbox all the same. They are recorded and delivered later, at the latest at the
            // next start.
            let delivered = Set(zip(numbers, intended).filter { $1.isDelivered }.map { $0.0 })
            storage.unsettled.keep(
                outcomes, of: offer.transfer, from: peer,
                delivered: arrivals.map(\.arrival).filter { delivered.contains($0.number) })
        }
        return arrivals
    }

    private mutating func note(_ item: WholeItem, at place: StoredItem) {
        if let lack = item.lack { return setFault(lack, item.number) }
        receipts[item.number] = ItemReceipt(
            .stored(name: place.name.text, size: item.bytes, digest: item.sentDigest), content: item.content)
    }
}
