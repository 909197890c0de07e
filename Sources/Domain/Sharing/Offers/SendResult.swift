/// The sender's result at the end of a transfer.
package struct SendResult: Sendable {
    /// The result of one item.
    package enum Item: Sendable {
        case notAccepted(ItemVerdict)
        /// The receiver's statement, and the contents that this side sent; nil if unknown.
        case acknowledged(ItemReceipt, sent: SentContents?)
        /// It could not be read on this side.
        case unread(SourceError)
        /// The contents were on their way when the transfer ended with this.
        case lost(TransferError)
    }

    /// One for each item of the offer.
    package var items: [Item]

    package init(items: [Item]) {
        self.items = items
    }

    /// The outcome if nothing was accepted.
    package init(_ verdict: Verdict) {
        items = verdict.items.map { .notAccepted($0) }
    }
}
