package import ContentCheck
package import Digests

/// A handler's answer to an item.
package struct HandlerAnswer: Hashable, Sendable {
    package enum State: String, Sendable, Codable {
        /// No handler is there for it.
        case none
        /// A handler will be, or is being, asked.
        case pending
        case yes
        case no
        /// It wants to be asked again later, was killed or ran out of time: it will be asked again.
        case later
        /// It could not be started, or its exit code has no meaning.
        case failed
    }

    package var state: State
    /// The handler's exit code; nil unless it ended by itself.
    package let exitCode: Int?

    package init(_ state: State, exitCode: Int? = nil) {
        self.state = state
        self.exitCode = exitCode
    }

    /// The answer for an item that was stored by an earlier transfer.
    package init(_ delivery: DeliveryState) {
        let state: State =
            switch delivery {
            case .none: .none
            case .waiting: .pending
            case .yes: .yes
            case .no: .no
            case .parked: .later
            case .failed, .gone: .failed
            }
        self.init(state)
    }
}

/// The receiver's signed-off statement on one item.
package struct ItemReceipt: Hashable, Sendable {
    package enum Outcome: Hashable, Sendable {
        /// In the Inbox, synced, under this name. `size` in bytes of contents; the digest is that of the file's
        /// contents, or of a tree's listing.
        case stored(name: String, size: UInt64, digest: Digest)
        /// Not in the Inbox. Its received part may be kept elsewhere, if the fault can be resumed.
        case failed(TransferError)
        /// It was not accepted, or its contents never came.
        case notSent
    }

    package var outcome: Outcome
    package var handler: HandlerAnswer
    /// Whether an earlier transfer had stored it and it is still there, so that nothing was stored now.
    package var isAlready: Bool
    /// Whether such an item was recorded as sent again: then `handler` is the answer to this transfer.
    package var isAgain = false
    /// The content verdict of a stored item if it speaks against the item's type; otherwise nil.
    package let content: ContentVerdict?

    /// - Parameter content: the content verdict of a stored item.
    package init(
        _ outcome: Outcome,
        handler: HandlerAnswer = HandlerAnswer(.none),
        content: ContentVerdict? = nil,
        isAlready: Bool = false
    ) {
        self.outcome = outcome
        self.handler = handler
        self.isAlready = isAlready
        self.content = content?.outcome == .consistent ? nil : content
    }
}

extension ItemReceipt {
    package var isStored: Bool {
        if case .stored = outcome { true } else { false }
    }

    /// The receipt for an item that has arrived before.
    /// - Parameter digest: the one that its sender knows.
    package init(
        _ arrival: Arrival, digest: Digest, handler: HandlerAnswer = HandlerAnswer(.none), isAlready: Bool = false
    ) {
        self.init(
            .stored(name: arrival.stored.name.text, size: arrival.size, digest: digest),
            handler: handler, content: arrival.content, isAlready: isAlready || arrival.again != nil)
        isAgain = arrival.again != nil
    }
}

/// The receiver's statement on a transfer: one line for each item of the offer, in order.
package struct Receipt: Hashable, Sendable {
    package var transfer: TransferID
    package var items: [ItemReceipt]

    package init(transfer: TransferID, items: [ItemReceipt]) {
        self.transfer = transfer
        self.items = items
    }

    /// One line about the items that came to nothing, not escaped: the first one's reason, and how many more; nil where
    /// there are none.
    package var failures: String? {
        guard let first = faults.first else { return nil }
        return faults.count == 1 ? first.message : "\(first.message) (and \(faults.count - 1) more failed)"
    }

    /// The cause of the first of them.
    package var cause: EndCause? { faults.first?.cause }

    private var faults: [TransferError] {
        items.compactMap { item in
            guard case .failed(let fault) = item.outcome else { return nil }
            return fault
        }
    }
}
