import ContentCheck
package import Digests

/// One accepted transfer while its contents arrive: order checked, digests compared, items staged and committed.
///
/// A dialect decodes its wire and calls one method an event, from one thread at a time that may block on the disk.
/// The first fault ends the transfer: `fail` then, and what had been committed stays.
package final class IncomingTransfer {
    package let offer: Offer
    package let peer: PeerID
    package let digestAlgorithm: DigestAlgorithm

    private let inbox: any InboxStoring
    private let journal: any ArrivalJournal
    private let mostBytes: UInt64?
    private let isDelivered: @Sendable (ArrivalFacts) -> Bool
    private let stored: @Sendable ([StoredArrival]) -> Void
    private let progressed: @Sendable (UInt64) -> Void
    private let destinations: [Destination]
    private var order: TransferOrder
    private var fileDigest: DigestState
    private var listing: TreeListing?
    private var currentFile: FileEntry?
    private var soleFileDigest: Digest?
    private var staged: (any StagedItem)?
    private var whole: [WholeItem] = []
    private var wholeBytes: UInt64 = 0
    private var receipts: [ItemReceipt]
    private var receivedBytes: UInt64 = 0

    /// An item that has arrived whole and waits for the commit of its batch.
    private struct WholeItem {
        var number: Int
        var staged: any StagedItem
        var bytes: UInt64
        var digest: Digest
        var content: ContentVerdict?
    }

    /// Items and bytes after which a batch is committed: one sync serves many small items, and a large one does not
    /// wait for those behind it.
    private static let batchItems = 512
    private static let batchBytes: UInt64 = 64 << 20

    /// An item that has come to lie in the Inbox.
    package struct StoredArrival: Sendable {
        package var arrival: Arrival
        /// Whether it was written down as to be delivered, with its name.
        package var awaitsDelivery: Bool
    }

    /// - Parameters:
    ///   - binding: how far the contents are held to the offer.
    ///   - mostBytes: bytes that it may bring in all; nil for no bound but those of its items.
    ///   - isDelivered: whether handlers are to be asked about such an item.
    ///   - stored: called for the items that have come to lie in the Inbox, as soon as they do.
    ///   - progressed: called with the bytes received in all, now and then.
    package init(
        offer: Offer,
        verdict: Verdict,
        peer: PeerID,
        binding: OfferBinding = .exact,
        inbox: any InboxStoring,
        journal: any ArrivalJournal,
        mostBytes: UInt64? = nil,
        isDelivered: @escaping @Sendable (ArrivalFacts) -> Bool,
        stored: @escaping @Sendable ([StoredArrival]) -> Void,
        progressed: @escaping @Sendable (UInt64) -> Void
    ) {
        self.offer = offer
        self.peer = peer
        self.digestAlgorithm = verdict.digest
        self.inbox = inbox
        self.journal = journal
        self.mostBytes = mostBytes
        self.isDelivered = isDelivered
        self.stored = stored
        self.progressed = progressed
        self.destinations = verdict.items.map(\.destination)
        self.order = TransferOrder(items: offer.items, verdict: verdict, binding: binding)
        self.fileDigest = DigestState(verdict.digest)
        self.receipts = Array(repeating: ItemReceipt(.notSent), count: offer.items.count)
    }

    package func beginItem(_ number: Int) throws(TransferFault) {
        try order.beginItem(number)
        let isTree = offer.items[number].kind == .tree
        staged = try inbox.stage(transfer: offer.transfer, item: number, isTree: isTree)
        listing = isTree ? TreeListing(digestAlgorithm) : nil
        soleFileDigest = nil
    }

    package func beginFile(_ entry: FileEntry) throws(TransferFault) {
        try order.beginFile(entry)
        try current().beginFile(entry)
        currentFile = entry
        fileDigest.reset()
    }

    package func write(_ bytes: UnsafeRawBufferPointer) throws(TransferFault) {
        try order.receive(bytes.count)
        if let mostBytes, receivedBytes + UInt64(bytes.count) > mostBytes {
            throw TransferFault(.noRoom, "more than is kept from one stranger; \(ByteCount.text(mostBytes)) were left")
        }
        fileDigest.update(bytes)
        try current().write(bytes)
        receivedBytes += UInt64(bytes.count)
        progressed(receivedBytes)
    }

    /// - Parameter digest: what the sender says the contents' digest is; nil where its protocol has none, and what came is
    ///   taken for what was meant.
    package func endFile(digest: Digest?) throws(TransferFault) {
        try order.endFile()
        let ours = fileDigest.finalize()
        guard digest == nil || ours == digest else {
            let name = currentFile?.path?.text ?? order.currentItem.map { offer.items[$0].name.text } ?? ""
            throw TransferFault(.digestMismatch, "the contents of \(name) are not what was sent")
        }
        try current().endFile()
        if let entry = currentFile, let path = entry.path {
            listing?.file(path, executable: entry.executable, digest: ours)
        } else {
            soleFileDigest = ours
        }
        currentFile = nil
    }

    package func folder(_ path: SafeRelativePath) throws(TransferFault) {
        try order.entry()
        try current().makeFolder(path)
        listing?.folder(path)
    }

    package func link(_ path: SafeRelativePath, target: SafeLinkTarget) throws(TransferFault) {
        try order.entry()
        try current().makeLink(path, target: target)
        listing?.link(path, target: target)
    }

    package func folderClosed(_ path: SafeRelativePath?, modified: Timestamp?) throws(TransferFault) {
        try order.folderClosed()
        try current().closeFolder(path, modified: modified)
    }

    /// - Parameter digest: what the sender says the item's digest is: the file's, or the listing's; nil as in `endFile`.
    package func endItem(digest: Digest?) throws(TransferFault) {
        let (number, bytes) = try order.endItem()
        let item = try current()
        guard let ours = listing != nil ? listing?.finalize() : soleFileDigest, digest == nil || ours == digest else {
            throw TransferFault(.digestMismatch, "\(offer.items[number].name) is not what was sent")
        }
        let offered = offer.items[number]
        // Texts and URLs are forms of our own; a folder's files have names and types of their own.
        let content = offered.kind == .file ? try item.contentVerdict(declared: offered.type) : nil
        staged = nil
        listing = nil
        whole.append(WholeItem(number: number, staged: item, bytes: bytes, digest: ours, content: content))
        wholeBytes += bytes
        if whole.count >= Self.batchItems || wholeBytes >= Self.batchBytes { commitWhole() }
    }

    /// The sender gives up one item; the others go on.
    package func abandonItem(_ number: Int, _ fault: TransferFault) throws(TransferFault) {
        try order.abandonItem(number)
        discardCurrent()
        receipts[number] = ItemReceipt(.failed(fault))
    }

    /// All has come: the rest is committed.
    package func finish() throws(TransferFault) -> Receipt {
        try order.finish()
        commitWhole()
        return Receipt(transfer: offer.transfer, items: receipts)
    }

    /// Ends the transfer with a fault: what is not committed is discarded.
    ///
    /// Items that had arrived whole are kept, unless the connection is gone (then the sender cannot be told of them and
    /// would send them again), or somebody wants it to stop now (a commit waits for the disk).
    /// - Returns: the receipt, in which every item whose contents had begun and that is not in the Inbox bears a fault;
    ///   what had not begun is `notSent`.
    package func fail(_ fault: TransferFault) -> Receipt {
        let current = order.currentItem
        discardCurrent()
        if [.interrupted, .cancelled, .stopping].contains(fault.code) {
            for item in whole { item.staged.discard() }
            for item in whole { receipts[item.number] = ItemReceipt(.failed(fault)) }
            whole = []
        } else {
            commitWhole()
        }
        if let current { receipts[current] = ItemReceipt(.failed(fault)) }
        return Receipt(transfer: offer.transfer, items: receipts)
    }

    private func discardCurrent() {
        staged?.discard()
        staged = nil
        listing = nil
        currentFile = nil
    }

    private func current() throws(TransferFault) -> any StagedItem {
        guard let staged else { throw TransferFault(.unexpected, "no item is being written") }
        return staged
    }

    /// Moves what has arrived whole into the Inbox. The order of the steps is what makes that true after any crash:
    /// contents on the disk, then the journal ("this is about to be there, and these are to be delivered"), then the
    /// Inbox, then the journal again ("there it is"). What a crash leaves between the last two is found by identity.
    private func commitWhole() {
        guard !whole.isEmpty else { return }
        let intended = whole.map { item in
            let facts = facts(of: item)
            return IntendedArrival(facts: facts, identity: nil, isDelivered: isDelivered(facts))
        }
        for (item, arrival) in zip(whole, intended) { item.staged.label(arrival.facts) }
        var numbers: [ArrivalNumber] = []
        let items = whole.map { item in
            ItemToCommit(item.staged, as: offer.items[item.number].name, in: destinations[item.number].folder)
        }
        let results = inbox.commit(items) { identities throws(TransferFault) in
            numbers = try journal.intend(
                zip(intended, identities).map { arrival, identity in
                    IntendedArrival(facts: arrival.facts, identity: identity, isDelivered: arrival.isDelivered)
                })
        }
        // Where it could not be written down, nothing was moved, and all results say so.
        let isSettled = settle(zip(numbers, results).map { ($0, try? $1.get()) })
        var arrivals: [StoredArrival] = []
        for (index, (item, result)) in zip(whole, results).enumerated() {
            switch result {
            case .success(let place):
                receipts[item.number] = ItemReceipt(
                    .stored(name: place.name.text, size: item.bytes, digest: item.digest),
                    content: item.content
                )
                let arrival = Arrival(number: numbers[index], facts: intended[index].facts, stored: place)
                arrivals.append(
                    StoredArrival(arrival: arrival, awaitsDelivery: isSettled && intended[index].isDelivered))
            case .failure(let fault):
                receipts[item.number] = ItemReceipt(.failed(fault))
            }
        }
        whole = []
        wholeBytes = 0
        if !arrivals.isEmpty { stored(arrivals) }
    }

    /// - Returns: whether it is in the journal. If not, the items are in the Inbox all the same, and are found and
    ///   delivered at the next start.
    private func settle(_ outcomes: [(number: ArrivalNumber, stored: StoredItem?)]) -> Bool {
        guard !outcomes.isEmpty else { return true }
        do {
            try journal.settle(outcomes)
            return true
        } catch {
            return false
        }
    }

    private func facts(of item: WholeItem) -> ArrivalFacts {
        ArrivalFacts(
            transfer: offer.transfer,
            itemNumber: item.number,
            itemsInOffer: offer.items.count,
            item: offer.items[item.number],
            size: item.bytes,
            digest: item.digest,
            peer: peer,
            senderName: offer.senderName,
            annotation: offer.annotation,
            content: item.content,
            destination: destinations[item.number],
            dialect: offer.dialect
        )
    }
}
