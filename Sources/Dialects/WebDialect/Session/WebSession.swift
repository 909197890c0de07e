package import Sharing
import Synchronization
import WebPages

/// The items and the rules that the host has opened to guests.
package struct WebSession: Sendable {
    /// Stands in the address; opens the page. `WebSecret.make`.
    package var secret: String
    /// For those who have only the address of the machine.
    package let pin: PagePIN
    /// Stands in the path of all that guests do. A browser shows the cookie of a guest to every port of this host; without
    /// this it is worth nothing. Only guests get to know it.
    let room = WebSecret.make()
    /// Whether guests can send something.
    package var takes: Bool
    /// Whether the connections are not encrypted.
    package var isPlain: Bool
    /// Whether only the first guest gets in.
    package var isOnce: Bool
    /// The items that guests can download: repeatable, of known sizes, at most `WebLimits.sharedItems`.
    package var items: [any ItemSource]
    /// After this time everything is answered with 404; nil for no end.
    package var end: ContinuousClock.Instant?

    /// - Parameter pin: six digits, as of `WebSecret.makePIN`.
    package init(
        secret: String = WebSecret.make(), pin: String = WebSecret.makePIN(), takes: Bool = true, isPlain: Bool = false,
        isOnce: Bool = false, items: [any ItemSource] = [], end: ContinuousClock.Instant? = nil
    ) {
        (self.secret, self.pin, self.takes, self.isPlain) = (secret, PagePIN(pin), takes, isPlain)
        (self.isOnce, self.items, self.end) = (isOnce, items, end)
    }

    /// The path of the address that the host passes on.
    package var path: String { "/g/" + secret }

    /// The page as guests see it.
    var roomPath: String { "/p/" + room + "/" }
}

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
