package import Digests

/// Digest and size of an item's contents, as this side computed them while sending.
package struct SentContents: Hashable, Sendable {
    package var digest: Digest
    /// Bytes.
    package var size: UInt64

    package init(digest: Digest, size: UInt64) {
        self.digest = digest
        self.size = size
    }
}

extension ItemReceipt {
    /// Why the receipt is not believed: it names another size or another digest than was sent.
    ///
    /// - Parameters:
    ///   - offered: the item as it was offered.
    ///   - sent: the contents that were sent; nil if unknown, for example after a restart of this program.
    /// - Returns: nil for a receipt that fits, and for one that does not say that the item is stored.
    package func contradiction(of offered: OfferedItem, sent: SentContents?) -> TransferError? {
        guard case .stored(_, let size, let digest) = outcome else { return nil }
        if let sentSize = sent?.size ?? offered.size, sentSize != size {
            return TransferError(
                .sizeMismatch,
                "the receipt is not believed: it names \(size) bytes where \(sentSize) were sent")
        }
        if let sent, sent.digest != digest {
            return TransferError(.digestMismatch, "the receipt is not believed: it names other contents than were sent")
        }
        return nil
    }
}
