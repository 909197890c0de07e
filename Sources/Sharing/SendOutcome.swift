/// What the sender knows at the end of a transfer.
package struct SendOutcome: Sendable {
    /// What became of one item.
    package enum Item: Sendable {
        case notAccepted(ItemVerdict)
        /// The receiver's statement, and the contents that this side sent; nil if unknown.
        case acknowledged(ItemReceipt, sent: SentContents?)
        /// It could not be read on this side.
        case unread(SourceFault)
        /// The contents were on their way when the transfer ended with this.
        case lost(TransferFault)
    }

    /// What became of each item, in order, found out when it is asked for: a list of tens of thousands would take as much
    /// memory as all that it is made from.
    package struct Items: RandomAccessCollection, Sendable {
        package let count: Int
        private let item: @Sendable (Int) -> Item

        /// - Parameter item: says the same each time.
        package init(count: Int, item: @escaping @Sendable (Int) -> Item) {
            self.count = count
            self.item = item
        }

        package init(_ items: [Item]) {
            self.init(count: items.count) { items[$0] }
        }

        package var startIndex: Int { 0 }
        package var endIndex: Int { count }

        package subscript(number: Int) -> Item {
            precondition(indices.contains(number))
            return item(number)
        }
    }

    /// One for each item of the offer.
    package var items: Items

    package init(items: Items) {
        self.items = items
    }

    /// Where nothing was accepted.
    package init(_ verdict: Verdict) {
        items = Items(count: verdict.items.count) { .notAccepted(verdict.items[$0]) }
    }
}
