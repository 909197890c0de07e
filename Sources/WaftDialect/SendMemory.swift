package import Digests
package import Sharing
private import Synchronization

/// What a sender knows of one transfer across the connections and attempts that it takes.
package final class SendMemory: Sendable {
    private struct State {
        var receipts: [Int: ItemReceipt] = [:]
        var digests: [Int: Digest] = [:]
        var contradicted: Set<Int> = []
        var movedBytes: UInt64 = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// Takes in what the other side says of the transfer.
    package func note(_ receipt: Receipt) {
        state.withLock { state in
            for (number, item) in receipt.items.enumerated() {
                switch item.outcome {
                case .stored:
                    state.receipts[number] = item
                case .failed(let fault) where fault.code == .notKept:
                    state.contradicted.insert(number)
                case .failed, .notSent:
                    continue
                }
            }
        }
    }

    /// Takes in what this side has read and sent.
    func note(_ writer: ContentsWriter) {
        state.withLock { state in
            state.movedBytes += writer.movedBytes
            for (number, outcome) in writer.outcomes.enumerated() {
                if case .sent(let digest) = outcome { state.digests[number] = digest }
            }
        }
    }

    /// What the other side has said of an item that it has stored.
    package func receipt(of item: Int) -> ItemReceipt? { state.withLock { $0.receipts[item] } }

    /// The digest that this side has computed of an item when it was sent last.
    package func digest(of item: Int) -> Digest? { state.withLock { $0.digests[item] } }

    /// Bytes of contents that were sent, in all attempts that are over.
    package var movedBytes: UInt64 { state.withLock { $0.movedBytes } }

    var storedDigests: [Int: Digest] {
        state.withLock { state in
            state.receipts.compactMapValues { receipt in
                if case .stored(_, _, let digest) = receipt.outcome { digest } else { nil }
            }
        }
    }

    var contradicted: Set<Int> { state.withLock { $0.contradicted } }
}
