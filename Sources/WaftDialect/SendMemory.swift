import Digests
package import Sharing
private import Synchronization

/// What a sender knows of one transfer across the connections and attempts that it takes.
package final class SendMemory: Sendable {
    /// What is known of each item by its number. A list that brings something on every item, as it usually does, is
    /// kept as it is and not copied: it may have 20,000 entries.
    private struct Known<Element> {
        var latest: [Element] = []
        /// Of the items on which the latest list brought nothing.
        var earlier: [Int: Element] = [:]
        let says: @Sendable (Element) -> Bool

        mutating func note(_ list: [Element]) {
            for (number, element) in latest.enumerated() where says(element) {
                if !list.indices.contains(number) || !says(list[number]) { earlier[number] = element }
            }
            latest = list
        }

        subscript(_ number: Int) -> Element? {
            if latest.indices.contains(number), says(latest[number]) { return latest[number] }
            return earlier[number]
        }

        /// The numbers of all items of which something is known.
        var numbers: [Int] {
            latest.indices.filter { says(latest[$0]) }
                + earlier.keys.filter { number in
                    !latest.indices.contains(number) || !says(latest[number])
                }
        }
    }

    private struct State {
        var receipts = Known<ItemReceipt> { $0.isStored }
        var sent = Known<ContentsWriter.SourceOutcome> { if case .sent = $0 { true } else { false } }
        var contradicted: Set<Int> = []
        var movedBytes: UInt64 = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// Takes in what the other side says of the transfer.
    package func note(_ receipt: Receipt) {
        state.withLock { state in
            state.receipts.note(receipt.items)
            for (number, item) in receipt.items.enumerated() {
                guard case .failed(let fault) = item.outcome, fault.code == .notKept else { continue }
                state.contradicted.insert(number)
            }
        }
    }

    /// Takes in what this side has read and sent.
    func note(_ writer: ContentsWriter) {
        state.withLock { state in
            state.movedBytes += writer.movedBytes
            state.sent.note(writer.outcomes)
        }
    }

    /// What the other side has said of an item that it has stored.
    package func receipt(of item: Int) -> ItemReceipt? { state.withLock { $0.receipts[item] } }

    /// The contents of an item as this side sent them last.
    package func sent(_ item: Int) -> SentContents? {
        state.withLock { state in
            if case .sent(let contents)? = state.sent[item] { contents } else { nil }
        }
    }

    /// Bytes of contents that were sent, in all attempts that are over.
    package var movedBytes: UInt64 { state.withLock { $0.movedBytes } }

    var storedDigests: [Int: Digest] {
        state.withLock { state in
            var digests: [Int: Digest] = [:]
            for number in state.receipts.numbers {
                guard case .stored(_, _, let digest)? = state.receipts[number]?.outcome else { continue }
                digests[number] = digest
            }
            return digests
        }
    }

    var contradicted: Set<Int> { state.withLock { $0.contradicted } }
}
