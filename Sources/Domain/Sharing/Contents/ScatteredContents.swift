/// The contents of a transfer whose files come in any order, one at a time. Used by one task at a time.
package final class ScatteredContents: @unchecked Sendable {
    private let transfer: IncomingTransfer
    /// Files that each item still waits for.
    private var filesLeft: [Int: Int]
    private var folders: [Int: Set<SafeRelativePath>] = [:]
    private var isClosed = false

    /// - Parameters:
    ///   - transfer: with the binding `.scattered`.
    ///   - filesLeft: how many files each accepted item has.
    package init(_ transfer: sending IncomingTransfer, filesLeft: [Int: Int]) {
        (self.transfer, self.filesLeft) = (transfer, filesLeft)
    }

    /// Begins a file, in its item and its folder. The last one must have ended, or been dropped.
    package func begin(_ place: OfferedFiles.Member) throws(TransferError) {
        guard !isClosed else { throw TransferError(.notAccepted, "this transfer is over") }
        try transfer.beginItem(place.item)
        do throws(TransferError) {
            if let path = place.path { try makeFolders(above: path, in: place.item) }
            try transfer.beginFile(
                FileEntry(path: place.path, executable: false, modified: place.modified, size: place.size))
        } catch {
            if place.path == nil {
                try transfer.abandonItem(place.item, error)
            } else {
                try transfer.setAsideItem()
            }
            throw error
        }
    }

    /// The next bytes of the file that was begun.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(TransferError) {
        guard !isClosed else { throw TransferError(.notAccepted, "this transfer is over") }
        try transfer.write(bytes)
    }

    /// All bytes of the file have come. `endItem` follows; after an error, `drop`.
    package func endFile(_ place: OfferedFiles.Member) throws(TransferError) {
        guard !isClosed else { throw TransferError(.notAccepted, "this transfer is over") }
        try transfer.endFile(digest: place.digest)
    }

    /// Stores the item of a file that has ended if it was the last one; otherwise the item waits for its next file.
    package func endItem(_ place: OfferedFiles.Member) throws(TransferError) {
        filesLeft[place.item, default: 1] -= 1
        guard filesLeft[place.item] == 0 else { return try transfer.setAsideItem() }
        do throws(TransferError) {
            try transfer.endItem(digest: nil)
        } catch {
            // The file comes again.
            filesLeft[place.item] = 1
            throw error
        }
        if let fault = transfer.fault(of: place.item) { throw fault }
    }

    /// The file that was begun has failed: nothing of it stays, and it may come again.
    package func drop(_ fault: TransferError) throws(TransferError) {
        if !isClosed { try transfer.dropFile(fault) }
    }

    /// The state of one item so far.
    package func outcome(of item: Int) -> ItemReceipt.Outcome { transfer.outcome(of: item) }

    private func makeFolders(above path: SafeRelativePath, in item: Int) throws(TransferError) {
        var missing: [SafeRelativePath] = []
        var next = path.parent
        while let folder = next, !folders[item, default: []].contains(folder) {
            missing.append(folder)
            next = folder.parent
        }
        for folder in missing.reversed() {
            try transfer.folder(folder)
            folders[item, default: []].insert(folder)
        }
    }

    /// Closes the transfer. A second call has no effect.
    /// - Parameter fault: why no more files come.
    /// - Returns: the receipt; nil if it was closed before.
    package func close(_ fault: TransferError, into reception: Reception) -> Receipt? {
        guard !isClosed else { return nil }
        isClosed = true
        let receipt = transfer.close(fault)
        let isWhole = receipt.items.enumerated().allSatisfy { $0.element.isStored || filesLeft[$0.offset] == nil }
        return reception.end(transfer, receipt, fault: isWhole ? nil : fault)
    }
}
