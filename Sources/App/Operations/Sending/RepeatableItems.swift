import Lines
import Outbox
package import Sharing

/// Items that several peers can get: copies of those that can be read once only.
///
/// The copies lie in a draft of the outbox, within its quota. They go with this object, or with the next sweep of the outbox
/// after a crash.
package final class RepeatableItems {
    /// In the order of the items.
    package let sources: [any ItemSource]
    private let draft: OutboxDraft?

    /// Blocks while items are copied.
    /// - Parameter cancellation: ends the copying.
    /// - Throws: `WaftError`; `interrupted` for a cancellation.
    package init(_ sources: [any ItemSource], of waft: Waft, cancellation: Cancellation) throws(WaftError) {
        guard !sources.allSatisfy(\.isRepeatable) else {
            (self.sources, draft) = (sources, nil)
            return
        }
        (self.sources, draft) = try waft.outbox.copying("nothing was sent", cancellation) { draft in
            let copies = try sources.map { $0.isRepeatable ? $0 : try draft.source(copying: $0) }
            if cancellation.isRequested { throw CancellationError() }
            return (copies, draft)
        }
    }
}
