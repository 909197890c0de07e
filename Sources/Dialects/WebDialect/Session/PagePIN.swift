import Synchronization
import WebPages

/// The PIN of a page. It changes when it was guessed at too often.
package final class PagePIN: Sendable {
    /// Changes within `period` after which no PIN opens the page: guests still get in by the code.
    private static let maximumChanges = 3
    private static let period: Duration = .seconds(3_600)

    private let state: Mutex<(text: String?, changes: [ContinuousClock.Instant])>

    init(_ text: String) { state = Mutex((text, [])) }

    /// Six digits; nil if no PIN opens the page any more.
    package var text: String? { state.withLock { $0.text } }

    /// - Returns: the new PIN; nil if there is none any more.
    func change(at now: ContinuousClock.Instant = .now) -> String? {
        state.withLock { state in
            state.changes = state.changes.filter { now - $0 < Self.period } + [now]
            if state.text != nil { state.text = state.changes.count < Self.maximumChanges ? WebSecret.makePIN() : nil }
            return state.text
        }
    }
}
