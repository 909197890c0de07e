package import Digests

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
    /// An item that is now in the Inbox.
    package struct StoredArrival: Sendable {
        package var arrival: Arrival
        /// Whether the journal records it for delivery, with its name.
        package var awaitsDelivery: Bool
    }

    package enum Report: Sendable {
        /// Items are in the Inbox, since just now.
        case stored([StoredArrival])
        /// The total bytes received; from time to time.
        case progressed(UInt64)
    }

    package let offer: Offer
    package let peer: PeerID
    package let digestAlgorithm: DigestAlgorithm

    let verdict: Verdict
    private let storage: ArrivalStorage
    private let policy: ContentsPolicy
    private let report: @Sendable (Report) -> Void
    private var assembly: ItemAssembly
    private let commits: BackgroundCommit
    /// The current item of `assembly`.
    private var writing: ItemWriting?
    private var fileSums: ContentSums
    /// Of the keys of its items; nil if the protocol does not resume.
    private let owner: String?
    /// The items that `assembly` has set aside.
    private var aside: [Int: AsideItem] = [:]

    /// Trees that may hold files and folders open while they wait for their next file.
    private static let openAside = 16

    /// - Parameters:
    ///   - binding: how strictly the contents must match the offer.
    ///   - bound: bounds the whole transfer; nil: only the sizes in the offer limit it.
    ///   - earlier: the arrivals of earlier attempts at this transfer.
    ///   - report: `stored` may come on another thread, one call after the other; none after `finish`, `close` or `fail`.
    package init(
        offer: Offer,
        verdict: Verdict,
        peer: PeerID,
        binding: OfferBinding = .exact,
        storage: ArrivalStorage,
        bound: ContentsBound? = nil,
        earlier: [Arrival] = [],
        report: @escaping @Sendable (Report) -> Void
    ) {
        (self.offer, self.verdict, self.peer) = (offer, verdict, peer)
        (self.storage, self.policy, self.report) = (storage, binding.policy, report)
        digestAlgorithm = verdict.digest
        assembly = ItemAssembly(items: offer.items, verdict: verdict, binding: binding, bound: bound)
        commits = BackgroundCommit(CommitBatch(offer, verdict, from: peer, into: storage, earlier: earlier)) {
            report(.stored($0))
        }
        fileSums = ContentSums(verdict.digest)
        owner = offer.dialect.resumes ? PartialKey.owner(peer) : nil
    }

    /// Whether all accepted items are in the Inbox, and how many of them this attempt has put there.
    package var tally: (isWhole: Bool, storedNow: Int) { commits.with { $0.tally } }

    /// Items that this transfer has stored before, and whose handlers have not answered.
    var unanswered: [Arrival] { commits.with { $0.unanswered } }

    /// Why an item is not in the Inbox; nil if nothing has failed.
    package func fault(of number: Int) -> TransferError? {
        if case .failed(let fault) = outcome(of: number) { fault } else { nil }
    }

    /// The state of an item so far; `notSent` while it is neither stored nor failed.
    package func outcome(of number: Int) -> ItemReceipt.Outcome {
        commits.with { $0.receipts[number].outcome }
    }

    // MARK: Items

    package func beginItem(_ number: Int) throws(TransferError) {
        try assembly.beginItem(number)
        if let taken = aside.removeValue(forKey: number) {
            writing = taken.writing.take()
            return
        }
        let isTree = offer.items[number].kind == .tree
        let protection = verdict.items[number].destination.protection ?? .none
        do throws(TransferError) {
            let place = try storage.inbox.stage(
                transfer: offer.transfer, item: number, isTree: isTree,
                partial: owner.flatMap {
                    PartialKey(offer.items[number], ofOwner: $0, protection: protection)
                },
                protection: protection)
            writing = ItemWriting(place, isTree: isTree, digestAlgorithm)
        } catch {
            throw try letComeAgain(number, error)
        }
    }

    /// A step after whose fault the current item cannot go on.
    private func finalStep(_ body: () throws(TransferError) -> Void) throws(TransferError) {
        do throws(TransferError) {
            try body()
        } catch {
            if let number = assembly.currentItem { throw try letComeAgain(number, error) }
            throw error
        }
    }

    /// Abandons an item that the disk has refused, where it may come again; elsewhere the fault ends the transfer.
    private func letComeAgain(_ number: Int, _ fault: TransferError) throws(TransferError) -> TransferError {
        if policy.filesAreRequests { try abandonItem(number, fault) }
        return fault
    }

    /// - Parameter digest: the sender's digest of the item: the file's, or the listing's; nil as in `endFile`.
    package func endItem(digest: Digest?) throws(TransferError) {
        try finalStep { () throws(TransferError) in try end(digest: digest, lack: nil) }
    }

    private func end(digest: Digest?, lack: TransferError?) throws(TransferError) {
        let end = try assembly.checkEndOfItem(isIncomplete: lack != nil)
        guard var item = try writing?.whole(end, sent: digest, lack: lack) else {
            throw TransferError(.digestMismatch, "\(offer.items[end.number].name) is not what was sent")
        }
        try assembly.endItem(isIncomplete: lack != nil)
        writing = nil
        // A sender that cannot be told of a single item may send thousands: none keeps a file open until the end.
        if policy.commits == .allOrNone { item.prepare(offer, verdict, from: peer) }
        commits.add(item)
        switch policy.commits {
        case .allOrNone: if item.refusal == nil { try item.staged.rest() }
        case .itemByItem: commits.commit()
        case .inBatches: commits.start()
        }
    }

    /// Lets the current tree wait for its next file. Other items can begin meanwhile; `beginItem` takes it up again. After
    /// a fault of the disk nothing of it stays.
    package func setAsideItem() throws(TransferError) {
        guard let number = assembly.currentItem else { throw Self.nothingBegun }
        try assembly.setAsideItem()
        do throws(TransferError) {
            if aside.count >= Self.openAside { try current().rest() }
        } catch {
            throw try letComeAgain(number, error)
        }
        aside[number] = AsideItem(writing.take())
    }

    /// The sender gives up one item; the others go on.
    package func abandonItem(_ number: Int, _ fault: TransferError) throws(TransferError) {
        try abandonItem(number, fault, keeping: fault.isResumable)
    }

    private func abandonItem(_ number: Int, _ fault: TransferError, keeping: Bool) throws(TransferError) {
        try assembly.abandonItem(number)
        aside.removeValue(forKey: number)?.writing?.end(keeping: keeping)
        endCurrent(keeping: keeping)
        commits.with { $0.setFault(fault, number) }
    }

    /// Takes an item whose contents are not sent because the sender has found that they are here.
    ///
    /// An item that this transfer has stored before is compared with the journal. Any other is looked up in the Inbox, and
    /// its digest is computed again. A missing item fails alone, and the sender may send it in another attempt.
    /// - Parameter digest: that of the sender's contents, by `DigestAlgorithm.lasting`; nil if the sender has a receipt of
    ///   this transfer for the item.
    package func present(_ number: Int, digest: Digest?) throws(TransferError) {
        try assembly.presentItem(number)
        report(.progressed(assembly.receivedBytes))
        let again = commits.with { $0.present(number, digest: digest) }
        if !again.isEmpty { report(.stored(again)) }
    }

    // MARK: Entries

    package func beginFile(_ entry: FileEntry) throws(TransferError) {
        let entry = try assembly.beginFile(entry)
        fileSums.reset()
        guard entry.offset == 0 else {
            // Read again from the disk: an earlier digest may no longer be true.
            try current().resumeFile(entry) { fileSums.update($0) }
            return report(.progressed(assembly.receivedBytes))
        }
        do throws(TransferError) {
            try current().beginFile(entry)
        } catch {
            if policy.filesAreRequests { try assembly.dropFile() }
            throw error
        }
    }

    package func write(_ bytes: UnsafeRawBufferPointer) throws(TransferError) {
        try assembly.receive(bytes.count)
        fileSums.update(bytes)
        try current().write(bytes)
        report(.progressed(assembly.receivedBytes))
    }

    /// - Parameter digest: the sender's digest of the contents; nil if its protocol has none: then the contents are not
    ///   checked.
    package func endFile(digest: Digest?) throws(TransferError) {
        let file = try assembly.checkEndOfFile()
        let ours = fileSums.finalize()
        guard digest == nil || ours.sent == digest else {
            let name = file.path?.text ?? assembly.currentItem.map { offer.items[$0].name.text } ?? ""
            throw TransferError(.digestMismatch, "the contents of \(name) are not what was sent")
        }
        try current().endFile()
        try assembly.endFile()
        writing?.file(file, digests: ours)
    }

    /// The current file has failed: nothing of it stays, and it may come again.
    package func dropFile(_ fault: TransferError) throws(TransferError) {
        guard let number = assembly.currentItem else { throw Self.nothingBegun }
        guard assembly.openFile?.path != nil else { return try abandonItem(number, fault) }
        try assembly.dropFile()
        do throws(TransferError) {
            try current().dropFile()
        } catch {
            // The folder as it is now cannot be completed.
            try abandonItem(number, error)
            throw error
        }
        try setAsideItem()
    }

    package func folder(_ path: SafeRelativePath) throws(TransferError) {
        try assembly.entry()
        do throws(TransferError) {
            try current().makeFolder(path)
        } catch {
            // The tree is as it was before.
            if policy.filesAreRequests { try assembly.dropEntry() }
            throw error
        }
        writing?.folder(path)
    }

    package func link(_ path: SafeRelativePath, target: SafeLinkTarget) throws(TransferError) {
        try assembly.entry()
        try finalStep { () throws(TransferError) in try current().makeLink(path, target: target) }
        writing?.link(path, target: target)
    }

    package func folderClosed(_ path: SafeRelativePath?, modified: Timestamp?) throws(TransferError) {
        try assembly.folderClosed()
        try finalStep { () throws(TransferError) in try current().closeFolder(path, modified: modified) }
    }

    private func current() throws(TransferError) -> any StagedItem {
        guard let staged = writing?.staged else { throw Self.nothingBegun }
        return staged
    }

    private static let nothingBegun = TransferError(.unexpected, "no item is being written")

    // MARK: The end

    /// Commits the remaining items after the last one has arrived. In a protocol without answers to single items these
    /// are all items, and none is stored if one of them cannot be.
    package func finish() throws(TransferError) -> Receipt {
        try assembly.finish()
        if policy.commits == .allOrNone {
            for receipt in commits.with({ $0.receipts }) {
                if case .failed(let fault) = receipt.outcome { throw fault }
            }
        }
        commits.commit()
        return commits.with { $0.receipt }
    }

    /// Ends a transfer whose files come in any order, whatever has come of it. A tree of which a part is missing is stored
    /// under a name that says so: its sender was told that the files are here.
    /// - Parameter fault: why the rest did not come.
    package func close(_ fault: TransferError) -> Receipt {
        if let number = assembly.currentItem, offer.items[number].kind == .tree {
            try? assembly.openFile == nil ? setAsideItem() : dropFile(fault)
        }
        if let number = assembly.currentItem { try? abandonItem(number, fault, keeping: false) }
        for number in aside.keys.sorted() {
            do throws(TransferError) {
                try beginItem(number)
                try end(digest: nil, lack: fault)
            } catch {
                try? abandonItem(number, error, keeping: false)
            }
        }
        commits.commit()
        return commits.with { $0.receipt }
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
        endCurrent(keeping: fault.isResumable)
        if policy.commits == .allOrNone || fault.code == .stopping { commits.keep(fault) } else { commits.commit() }
        if let current = assembly.currentItem { commits.with { $0.setFault(fault, current) } }
        for (number, item) in aside {
            item.writing?.end(keeping: fault.isResumable)
            commits.with { $0.setFault(fault, number) }
        }
        aside = [:]
        return commits.with { $0.receipt }
    }

    private func endCurrent(keeping: Bool) {
        writing?.end(keeping: keeping)
        writing = nil
    }
}
