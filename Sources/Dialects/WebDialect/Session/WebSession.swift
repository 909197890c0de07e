package import Sharing
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
