import Digests
package import Sharing
private import Synchronization

/// The sender's state of one transfer, across all its connections and attempts.
package final class SendMemory: Sendable {
    private struct State {
        /// The latest receipts, in which an item that was stored before stays stored. Empty before the first.
        var receipts: [ItemReceipt] = []
        /// The latest outcomes on this side, in which an item that was sent before stays sent. Empty before the first.
        var outcomes: [ContentsWriter.SourceState] = []
        var contradicted: Set<Int> = []
        var movedBytes: UInt64 = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// Records the receiver's latest receipt.
    package func note(_ receipt: Receipt) {
        state.withLock { state in
            if state.receipts.isEmpty {
                state.receipts = receipt.items
            } else {
                for (number, item) in receipt.items.enumerated() where item.isStored || !state.receipts[number].isStored
                {
                    state.receipts[number] = item
                }
            }
            for (number, item) in receipt.items.enumerated() {
                guard case .failed(let fault) = item.outcome, fault.code == .notKept else { continue }
                state.contradicted.insert(number)
            }
        }
    }

    /// Records the bytes and outcomes of an attempt.
    func note(_ outcomes: [ContentsWriter.SourceState], moved: UInt64) {
        state.withLock { state in
            state.movedBytes += moved
            guard !state.outcomes.isEmpty else {
                state.outcomes = outcomes
                return
            }
            for (number, outcome) in outcomes.enumerated() {
                if case .sent = outcome { state.outcomes[number] = outcome }
            }
        }
    }

    /// The receiver's receipt of an item that it has stored; nil for any other item.
    package func receipt(of item: Int) -> ItemReceipt? {
        state.withLock { state in
            state.receipts.indices.contains(item) && state.receipts[item].isStored ? state.receipts[item] : nil
        }
    }

    /// The contents of an item as this side sent them last.
    package func sent(_ item: Int) -> SentContents? {
        state.withLock { state in
            guard state.outcomes.indices.contains(item), case .sent(let contents) = state.outcomes[item] else {
                return nil
            }
            return contents
        }
    }

    /// Bytes of contents that all finished attempts have sent.
    package var movedBytes: UInt64 { state.withLock { $0.movedBytes } }

    var storedDigests: [Int: Digest] {
        state.withLock { state in
            var digests: [Int: Digest] = [:]
            for (number, receipt) in state.receipts.enumerated() {
                if case .stored(_, _, let digest) = receipt.outcome { digests[number] = digest }
            }
            return digests
        }
    }

    var contradicted: Set<Int> { state.withLock { $0.contradicted } }
}
