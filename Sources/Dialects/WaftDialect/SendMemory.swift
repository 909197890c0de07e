import Digests
package import Sharing
private import Synchronization

/// What a sender knows of one transfer across the connections and attempts that it takes.
package final class SendMemory: Sendable {
    private struct State {
        /// The receipts of stored items, by the item's number.
        var receipts: [Int: ItemReceipt] = [:]
        /// The contents of items as this side sent them last.
        var sent: [Int: SentContents] = [:]
        var contradicted: Set<Int> = []
        var movedBytes: UInt64 = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// Takes in what the other side says of the transfer.
    package func note(_ receipt: Receipt) {
        state.withLock { state in
            for (number, item) in receipt.items.enumerated() {
                if item.isStored { state.receipts[number] = item }
                guard case .failed(let fault) = item.outcome, fault.code == .notKept else { continue }
                state.contradicted.insert(number)
            }
        }
    }

    /// Takes in what this side has read and sent.
    func note(_ writer: ContentsWriter) {
        state.withLock { state in
            state.movedBytes += writer.movedBytes
            for (number, outcome) in writer.outcomes.enumerated() {
                if case .sent(let contents) = outcome { state.sent[number] = contents }
            }
        }
    }

    /// What the other side has said of an item that it has stored.
    package func receipt(of item: Int) -> ItemReceipt? { state.withLock { $0.receipts[item] } }

    /// The contents of an item as this side sent them last.
    package func sent(_ item: Int) -> SentContents? { state.withLock { $0.sent[item] } }

    /// Bytes of contents that were sent, in all attempts that are over.
    package var movedBytes: UInt64 { state.withLock { $0.movedBytes } }

    var storedDigests: [Int: Digest] {
        state.withLock { state in
            state.receipts.compactMapValues { receipt in
                guard case .stored(_, _, let digest) = receipt.outcome else { return nil }
                return digest
            }
        }
    }

    var contradicted: Set<Int> { state.withLock { $0.contradicted } }
}
