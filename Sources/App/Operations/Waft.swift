import Endpoints
package import Journal
package import Settings

/// What a user can do with Waft, by nouns: `waft.outbox.cancel(3)`. Nothing here prints, and nothing reads the words of a
/// command line; a face does both.
package struct Waft: Sendable {
    package let home: Home
    /// The receiver of the home, which may be running.
    package let receiver: ReceiverConnection

    /// While a receiver writes it, and when none is running.
    package let journal: JournalReader

    package init(_ home: Home) {
        self.home = home
        journal = JournalReader(folder: home.state, dialects: .known)
        receiver = ReceiverConnection(home)
    }

    /// The peers that the user knows.
    package var people: Acquaintances { Acquaintances(home.contactBook()) }
}
