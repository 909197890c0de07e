import Endpoints
package import Journal
package import Settings

/// The actions of a user, by nouns: `waft.outbox.cancel(3)`. Nothing here prints or reads the words of a command line. A
/// face does both.
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
