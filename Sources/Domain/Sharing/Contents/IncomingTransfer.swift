import ContentCheck
package import Digests
import UniformTypes

/// One accepted transfer while its contents arrive: it checks order and digests, and stages and commits items.
///
/// A dialect decodes its wire and calls one method for each event, from one thread at a time that may block on the
/// disk. The first fault ends the transfer: call `fail` then; committed items stay.
///
/// After any crash an item is either wholly in the Inbox and in the journal, or in neither, and its received contents
/// are kept for the next attempt. These steps ensure it, in this order:
///
/// 1. Contents are written to a place outside the Inbox that the item's key names (`InboxStoring.stage`).
/// 2. When the sender's digest of the item equals ours, the item is whole; with others it waits for a commit.
/// 3. Commit: contents on the disk; `journal.intend`, with each item's identity on its file system; the names in the
///    Inbox; the names on the disk (`Inbox.Commit`); `journal.settle`.
/// 4. The receipt. Until it arrives, the sender may ask again, or offer the same transfer again: the journal has the
///    results of step 3, so that they are not repeated.
///
/// A crash between the journal's two steps is repaired at the next start: an item with that identity in the Inbox is
/// settled once its name is certainly on the disk. The others are removed from the journal and stay staged under their
/// key. `Scripts/soak --crash` and `--power-cut` stop the receiver after every system call of these steps.
package final class IncomingTransfer {
    package let offer: Offer
    package let peer: PeerID
    package let digestAlgorithm: DigestAlgorithm

    private let inbox: any InboxStoring
    private let journal: any ArrivalJournal
    private let unsettled: UnsettledResults
    private let maximumBytes: UInt64?
    private let isDelivered: @Sendable (ArrivalFacts) -> Bool
    private let stored: @Sendable ([StoredArrival]) -> Void
    private let progressed: @Sendable (UInt64) -> Void
    let verdict: Verdict
    private let binding: OfferBinding
    private var order: TransferOrder
    private var fileSums: ContentSums
    private var listing: ListingSums?
    private var currentFile: FileEntry?
    private var soleFileDigests: ContentSums.Pair?
    private var staged: (any StagedItem)?
    /// The item that has begun and is neither whole nor abandoned.
    private var begun: Int?
    /// Trees whose next file is still to come, where files come in any order.
    private var aside: [Int: AsideItem] = [:]
    private var whole: [WholeItem] = []
    private var wholeBytes: UInt64 = 0
    private var receipts: [ItemReceipt]
    /// The items that an earlier attempt at this transfer has stored, with the digests of their contents.
    private let earlier: [Int: (arrival: Arrival, digests: ContentDigests)]
    private var receivedBytes: UInt64 = 0
    /// Those of the current file.
    private var fileBytes: UInt64 = 0
    private var receivedEntries: UInt64 = 0
    /// Items sent again that are not reported yet.
    private var again: [StoredArrival] = []
    private let turn: CommitTurn
    /// The number of `turn.storings` that the verdict took into account, plus those of this transfer.
    private var knownStorings: Int

    /// Trees that may hold files and folders open while they wait for their next file.
    private static let openAside = 16

    /// Items and bytes after which a batch is committed: one sync serves many small items, and a large item does not
    /// wait for the next ones.
    private static let batchItems = 512
    private static let batchBytes: UInt64 = 64 << 20

    /// An item that is now in the Inbox.
    package struct StoredArrival: Sendable {
        package var arrival: Arrival
        /// Whether the journal records it for delivery, with its name.
        package var awaitsDelivery: Bool
    }

    /// - Parameters:
    ///   - binding: how strictly the contents must match the offer.
    ///   - unsettled: gets the results that the journal could not record.
    ///   - maximumBytes: maximum bytes, by `Footprint`, of the whole transfer; nil: only the sizes in the offer limit it.
    ///   - earlier: the arrivals of earlier attempts at this transfer.
    ///   - turn: shared with the peer's other transfers.
    ///   - storings: `turn.storings` when the receiver last checked which of the items are stored already.
    ///   - isDelivered: whether such an item is delivered to handlers.
    ///   - stored: called for the items as soon as they are in the Inbox.
    ///   - progressed: called from time to time with the total bytes received.
    package init(
        offer: Offer,
        verdict: Verdict,
        peer: PeerID,
        binding: OfferBinding = .exact,
        inbox: any InboxStoring,
        journal: any ArrivalJournal,
        unsettled: UnsettledResults = UnsettledResults(),
        maximumBytes: UInt64? = nil,
        earlier: [Arrival] = [],
        turn: CommitTurn = CommitTurn(),
        storings: Int = 0,
        isDelivered: @escaping @Sendable (ArrivalFacts) -> Bool,
        stored: @escaping @Sendable ([StoredArrival]) -> Void,
        progressed: @escaping @Sendable (UInt64) -> Void
    ) {
        self.offer = offer
        self.peer = peer
        self.digestAlgorithm = verdict.digest
        self.inbox = inbox
        (self.journal, self.unsettled) = (journal, unsettled)
        self.maximumBytes = maximumBytes
        self.isDelivered = isDelivered
        (self.turn, self.knownStorings) = (turn, storings)
        self.stored = stored
        self.progressed = progressed
        self.verdict = verdict
        self.binding = binding
        self.order = TransferOrder(items: offer.items, verdict: verdict, binding: binding)
        self.fileSums = ContentSums(verdict.digest)
        self.receipts = Array(repeating: ItemReceipt(.notSent), count: offer.items.count)
        var stored: [Int: (arrival: Arrival, digests: ContentDigests)] = [:]
        for arrival in earlier
        where offer.items.indices.contains(arrival.itemNumber) && offer.items[arrival.itemNumber] == arrival.item {
            // A locked one is received again: nothing here can tell whether its contents are the same.
            guard let digests = inbox.contentDigests(of: arrival) else { continue }
            stored[arrival.itemNumber] = (arrival, digests)
            receipts[arrival.itemNumber] = EarlierArrivals.receipt(of: arrival, digests, journal)
        }
        self.earlier = stored
    }

    /// Whether all accepted items are in the Inbox, and how many of them this attempt has put there.
    package var tally: (isWhole: Bool, storedNow: Int) {
        var count = 0
        var isWhole = true
        for (number, receipt) in receipts.enumerated() {
            if case .stored = receipt.outcome {
                count += receipt.isAlready || earlier[number] != nil ? 0 : 1
            } else if order.isAccepted(number) {
                isWhole = false
            }
        }
        return (isWhole, count)
    }

    /// Items that this transfer has stored before, and whose handlers have not answered.
    var unanswered: [Arrival] {
        earlier.compactMap { receipts[$0].handler.state == .pending ? $1.arrival : nil }
    }

    package func beginItem(_ number: Int) throws(TransferError) {
        try order.beginItem(number)
        begun = number
        if let taken = aside.removeValue(forKey: number) {
            staged = taken.staged
            listing = taken.listing.take()
            return
        }
        let isTree = offer.items[number].kind == .tree
        let protection = verdict.items[number].destination.protection ?? .none
        let place = try inbox.stage(
            transfer: offer.transfer, item: number, isTree: isTree,
            partial: offer.dialect.resumes
                ? PartialKey(offer.items[number], from: peer, protection: protection) : nil,
            protection: protection)
        staged = place
        listing = isTree ? ListingSums(digestAlgorithm, keepsModes: place.keepsModes) : nil
        soleFileDigests = nil
    }

    package func beginFile(_ entry: FileEntry) throws(TransferError) {
        try order.beginFile(entry)
        try countEntry()
        let entry = allowed(entry)
        fileSums.reset()
        fileBytes = 0
        if entry.offset > 0 {
            // Read again from the disk: an earlier digest may no longer be true.
            try current().resumeFile(entry) { fileSums.update($0) }
            advance(entry.offset)
        } else {
            do throws(TransferError) {
                try current().beginFile(entry)
            } catch {
                if binding == .scattered {
                    try order.dropFile()
                    receivedEntries -= 1
                }
                throw error
            }
        }
        currentFile = entry
    }

    /// Clears the executable bit of an item that was accepted because of its type: that is no consent to run it. The
    /// bits of a tree stay if the sender names its digest, because the digest covers them.
    private func allowed(_ entry: FileEntry) -> FileEntry {
        guard let begun, !verdict.items[begun].admittedAs.isEmpty, entry.path == nil || binding == .announced else {
            return entry
        }
        var entry = entry
        entry.executable = false
        return entry
    }

    private func advance(_ bytes: UInt64) {
        receivedBytes += bytes
        progressed(receivedBytes)
    }

    package func write(_ bytes: UnsafeRawBufferPointer) throws(TransferError) {
        try order.receive(bytes.count)
        try checkQuota(adding: bytes.count)
        fileSums.update(bytes)
        try current().write(bytes)
        fileBytes += UInt64(bytes.count)
        advance(UInt64(bytes.count))
    }

    private func countEntry() throws(TransferError) {
        receivedEntries += 1
        try checkQuota(adding: 0)
    }

    private func checkQuota(adding count: Int) throws(TransferError) {
        guard let maximumBytes,
            Footprint(bytes: receivedBytes + UInt64(count), entries: receivedEntries).bytes > maximumBytes
        else { return }
        throw TransferError(
            .noRoom,
            "over the limit for one stranger, where each file and folder counts for "
                + "\(ByteCount.text(Limits.entryBytes)) more; \(ByteCount.text(maximumBytes)) were left")
    }

    /// - Parameter digest: the sender's digest of the contents; nil if its protocol has none: then the contents are not
    ///   checked.
    package func endFile(digest: Digest?) throws(TransferError) {
        try order.checkEndOfFile()
        let ours = fileSums.finalize()
        guard digest == nil || ours.sent == digest else {
            let name = currentFile?.path?.text ?? order.currentItem.map { offer.items[$0].name.text } ?? ""
            throw TransferError(.digestMismatch, "the contents of \(name) are not what was sent")
        }
        try current().endFile()
        try order.endFile()
        if let entry = currentFile, let path = entry.path {
            listing?.file(path, executable: entry.executable, digests: ours)
        } else {
            soleFileDigests = ours
        }
        currentFile = nil
    }

    package func folder(_ path: SafeRelativePath) throws(TransferError) {
        try order.entry()
        try countEntry()
        try current().makeFolder(path)
        listing?.folder(path)
    }

    package func link(_ path: SafeRelativePath, target: SafeLinkTarget) throws(TransferError) {
        try order.entry()
        try countEntry()
        try current().makeLink(path, target: target)
        listing?.link(path, target: target)
    }

    package func folderClosed(_ path: SafeRelativePath?, modified: Timestamp?) throws(TransferError) {
        try order.folderClosed()
        try current().closeFolder(path, modified: modified)
    }

    /// Lets the current tree wait for its next file. Other items can begin meanwhile; `beginItem` takes it up again.
    package func setAsideItem() throws(TransferError) {
        try order.setAsideItem()
        guard let begun else { return }
        let item = try current()
        if aside.count >= Self.openAside { try item.rest() }
        aside[begun] = AsideItem(item, listing.take())
        (staged, self.begun) = (nil, nil)
    }

    /// The current file has failed: nothing of it stays, and it may come again.
    package func dropFile(_ fault: TransferError) throws(TransferError) {
        guard let begun else { throw TransferError(.unexpected, "no item is being written") }
        receivedBytes -= fileBytes
        fileBytes = 0
        guard let entry = currentFile, entry.path != nil else { return try abandonItem(begun, fault) }
        try order.dropFile()
        receivedEntries -= 1
        currentFile = nil
        do throws(TransferError) {
            try current().dropFile()
        } catch {
            // The folder as it is now cannot be completed.
            try abandonItem(begun, error)
            throw error
        }
        try setAsideItem()
    }

    /// Why an item is not in the Inbox; nil if nothing has failed.
    package func fault(of number: Int) -> TransferError? {
        if case .failed(let fault) = outcome(of: number) { fault } else { nil }
    }
    /// The state of an item so far; `notSent` while it is neither stored nor failed.
    package func outcome(of number: Int) -> ItemReceipt.Outcome { receipts[number].outcome }

    /// Ends a transfer whose files come in any order, whatever has come of it. A tree of which a part is missing is stored
    /// under a name that says so: its sender was told that the files are here.
    /// - Parameter fault: why the rest did not come.
    package func close(_ fault: TransferError) -> Receipt {
        if let begun {
            endCurrent(keeping: false)
            setFault(fault, begun)
        }
        for number in aside.keys.sorted() {
            do throws(TransferError) {
                try beginItem(number)
                try end(digest: nil, lack: fault)
            } catch {
                endCurrent(keeping: false)
                setFault(error, number)
            }
        }
        commitWhole()
        return Receipt(transfer: offer.transfer, items: receipts)
    }

    /// - Parameter digest: the sender's digest of the item: the file's, or the listing's; nil as in `endFile`.
    package func endItem(digest: Digest?) throws(TransferError) { try end(digest: digest, lack: nil) }

    private func end(digest: Digest?, lack: TransferError?) throws(TransferError) {
        let (number, bytes, entries) = try order.endItem(isIncomplete: lack != nil)
        let item = try current()
        let isInByteOrder = listing?.isInByteOrder ?? true
        guard let ours = listing != nil ? listing?.finalize() : soleFileDigests,
            digest == nil || ours.sent == digest
        else {
            throw TransferError(.digestMismatch, "\(offer.items[number].name) is not what was sent")
        }
        if listing != nil { try item.removeLeftovers() }
        let sealed = try item.sealedDigests(
            of: ContentDigests(
                lasting: isInByteOrder ? ours.onDisk : nil, sent: digest ?? ours.onDisk,
                own: isInByteOrder ? ours.lasting : nil))
        // Later readers of the tree compute its digest in byte order.
        let lasting = isInByteOrder || sealed != nil ? ours.onDisk : try item.digest(.lasting)
        staged = nil
        begun = nil
        listing = nil
        whole.append(
            WholeItem(
                number: number, staged: item, bytes: bytes, entries: entries, digest: lasting,
                sentDigest: digest ?? lasting, ownDigest: isInByteOrder && ours.bare != nil ? ours.lasting : nil,
                sealed: sealed, lack: lack))
        wholeBytes += bytes
        if binding == .announced {
            try item.rest()
        } else if binding == .scattered {
            commitWhole()
        } else if whole.count >= Self.batchItems || wholeBytes >= Self.batchBytes {
            return commitWhole()
        }
    }

    /// The sender gives up one item; the others go on.
    package func abandonItem(_ number: Int, _ fault: TransferError) throws(TransferError) {
        try order.abandonItem(number)
        endCurrent(keeping: fault.isResumable)
        setFault(fault, number)
    }

    /// Takes an item whose contents are not sent because the sender has found that they are here.
    ///
    /// An item that this transfer has stored before is compared with the journal. Any other is looked up in the Inbox, and
    /// its digest is computed again. A missing item fails alone, and the sender may send it in another attempt.
    /// - Parameter digest: that of the sender's contents, by `DigestAlgorithm.lasting`; nil if the sender has a receipt of
    ///   this transfer for the item.
    package func present(_ number: Int, digest: Digest?) throws(TransferError) {
        try order.presentItem(number)
        advance(offer.items[number].size ?? 0)
        if let earlier = earlier[number] {
            guard let digest else { return }
            if earlier.digests.all.contains(digest) {
                let known = ContentDigests(lasting: digest, sent: digest)
                receipts[number] = EarlierArrivals.receipt(of: earlier.arrival, known, journal)
                return
            }
        }
        if let digest, takePresent(number, digest, sent: digest) {
            reportAgain()
        } else {
            // Also for an item of this transfer: the sender means other contents than those that were stored.
            let what = "\(offer.items[number].name) was changed in the Inbox, or has left it"
            receipts[number] = ItemReceipt(.failed(TransferError(.notKept, what)))
        }
    }

    /// Takes an item that is in the Inbox by another transfer: as it is, or as sent again.
    /// - Returns: false if it is not there.
    private func takePresent(
        _ number: Int, _ digest: Digest, sent: Digest, besides transfer: TransferID? = nil
    ) -> Bool {
        let arrivals = EarlierArrivals(inbox: inbox, journal: journal)
        guard let arrival = arrivals.verified(offer.items[number], from: peer, digest, besides: transfer) else {
            return false
        }
        guard EarlierArrivals.isCall(offer, about: arrival) else {
            receipts[number] = arrivals.receipt(arrival, digest: sent)
            return true
        }
        do throws(TransferError) {
            let call = try arrivals.sendAgain(
                arrival, by: offer, number, verdict.items[number], isDelivered: isDelivered)
            again.append(call)
            receipts[number] = ItemReceipt(call.arrival, digest: sent)
        } catch {
            receipts[number] = ItemReceipt(.failed(error))
        }
        return true
    }

    private func reportAgain() {
        let calls = again
        again = []
        if !calls.isEmpty { stored(calls) }
    }

    /// An item in the Inbox stays stored even if a second attempt at it fails.
    private func setFault(_ fault: TransferError, _ number: Int) {
        if earlier[number] == nil { receipts[number] = ItemReceipt(.failed(fault)) }
    }

    /// Commits the remaining items after the last one has arrived. In a protocol without answers to single items these
    /// are all items, and none is stored if one of them cannot be.
    package func finish() throws(TransferError) -> Receipt {
        try order.finish()
        lookIntoWhole()
        if binding == .announced {
            for receipt in receipts {
                if case .failed(let fault) = receipt.outcome { throw fault }
            }
        }
        commitWhole()
        return Receipt(transfer: offer.transfer, items: receipts)
    }

    /// Ends the transfer with a fault: the received part of the current item is kept if it can be resumed, and
    /// discarded if its contents caused the fault.
    ///
    /// Items that had arrived whole are stored all the same. Two cases differ. After `stopping` they are kept for the
    /// next attempt, because a commit would wait for the disk. In a protocol without answers to single items they are
    /// not stored either: its sender takes the fault for all items, and sends all of them again.
    /// - Returns: the receipt. Every item whose contents had begun and that is not in the Inbox has a fault; an item
    ///   that had not begun is `notSent`.
    package func fail(_ fault: TransferError) -> Receipt {
        let current = begun
        endCurrent(keeping: fault.isResumable)
        if binding == .announced || fault.code == .stopping {
            for item in whole { item.staged.keep() }
            for item in whole { setFault(fault, item.number) }
            whole = []
        } else {
            commitWhole()
        }
        if let current { setFault(fault, current) }
        return Receipt(transfer: offer.transfer, items: receipts)
    }

    private func endCurrent(keeping: Bool) {
        if keeping { staged?.keep() } else { staged?.discard() }
        staged = nil
        begun = nil
        listing = nil
        currentFile = nil
    }

    private func current() throws(TransferError) -> any StagedItem {
        guard let staged else { throw TransferError(.unexpected, "no item is being written") }
        return staged
    }

    /// The claim against which the contents of an item are checked; nil for a tree.
    private func claim(_ number: Int) -> ContentClaim? {
        ContentClaim(offer.items[number], admittedAs: verdict.items[number].admittedAs)
    }

    /// Checks the contents of the whole items. An item fails alone if its contents cannot be read, or if it was
    /// accepted because of a type that it does not have.
    private func lookIntoWhole() {
        whole = whole.compactMap { item in
            do throws(TransferError) {
                var item = item
                guard !item.isLookedInto, let claim = claim(item.number) else { return item }
                item.content = try item.staged.contentVerdict(on: claim)
                item.isLookedInto = true
                if let content = item.content, content.outcome == .lying, !claim.admittedAs.isEmpty {
                    throw TransferError(
                        .notAsDeclared, "\(offer.items[item.number].name) is not stored: \(content.explanation)")
                }
                return item
            } catch {
                if error.isResumable { item.staged.keep() } else { item.staged.discard() }
                setFault(error, item.number)
                return nil
            }
        }
    }

    /// Moves the whole items into the Inbox. The order of the steps keeps every item whole after any crash: contents on
    /// the disk, then the journal (intended arrivals and deliveries), then the Inbox, then the journal again (settled).
    /// After a crash between the last two, the items are found by identity.
    private func commitWhole() {
        wholeBytes = 0
        lookIntoWhole()
        leaveOutRepeated()
        guard !whole.isEmpty else { return }
        var arrivals: [StoredArrival] = []
        turn.take { storings in
            if storings != knownStorings { leaveOutPresent() }
            if !whole.isEmpty { arrivals = commit() }
            knownStorings += arrivals.isEmpty ? 0 : 1
            return !arrivals.isEmpty
        }
        whole = []
        if !arrivals.isEmpty { stored(arrivals) }
        reportAgain()
    }

    /// Leaves out items that another transfer of the peer has stored since this one was offered.
    private func leaveOutPresent() {
        guard offer.dialect.givesReceipts else { return }
        whole = whole.filter { item in
            guard takePresent(item.number, item.digest, sent: item.sentDigest, besides: offer.transfer) else {
                return true
            }
            item.staged.discard()
            return false
        }
    }

    /// Leaves out messages of this transfer that have come before: their sender lost the receipt and sent them again.
    private func leaveOutRepeated() {
        whole = whole.filter { item in
            guard offer.items[item.number].kind.isMessage,
                earlier[item.number]?.digests.lasting == item.digest
            else { return true }
            item.staged.discard()
            return false
        }
    }

    private func commit() -> [StoredArrival] {
        let intended = whole.map { item in
            let facts = facts(of: item)
            return IntendedArrival(
                facts: facts, identity: nil, isDelivered: item.lack == nil && isDelivered(facts))
        }
        for (item, arrival) in zip(whole, intended) { item.staged.label(arrival.facts) }
        var numbers: [ArrivalNumber] = []
        let items = whole.map { item in
            ItemToCommit(
                item.staged, as: offered(item).name, in: verdict.items[item.number].destination.folder)
        }
        let results = inbox.commit(items) { identities throws(TransferError) in
            numbers = try journal.intend(
                zip(intended, identities).map { arrival, identity in
                    IntendedArrival(facts: arrival.facts, identity: identity, isDelivered: arrival.isDelivered)
                })
        }
        // If the journal could not be written, nothing was moved, and all results are failures.
        let outcomes = zip(numbers, results).map { (number: $0, stored: try? $1.get()) }
        let isSettled = outcomes.isEmpty || (try? journal.settle(outcomes)) != nil
        var arrivals: [StoredArrival] = []
        for (index, (item, result)) in zip(whole, results).enumerated() {
            switch result {
            case .success(let place):
                if let lack = item.lack {
                    setFault(lack, item.number)
                } else {
                    receipts[item.number] = ItemReceipt(
                        .stored(name: place.name.text, size: item.bytes, digest: item.sentDigest), content: item.content
                    )
                }
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
            unsettled.keep(
                outcomes, of: offer.transfer, from: peer,
                delivered: arrivals.map(\.arrival).filter { delivered.contains($0.number) })
        }
        return arrivals
    }
}
