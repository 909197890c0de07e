import Endpoints
package import Journal
package import Logging
package import Settings

/// The actions of a user, by nouns: `waft.outbox.cancel(3)`. Nothing here prints or reads the words of a command line. A
/// face does both.
package struct Waft: Sendable {
    package let home: Home
    /// The settings; a receiver changes them while it runs.
    package let live: LiveSettings
    package let logger: Logger
    /// The receiver of the home, which may be running.
    package let receiver: ReceiverConnection

    /// Why the settings are not all of them the user's; nil if they are. A face may go on without them, but not call a
    /// handler: that may have to have a sandbox.
    package var settingsFault: WaftError?

    /// While a receiver writes it, and when none is running.
    package let journal: JournalReader

    package init(_ home: Home, _ live: LiveSettings, logger: Logger) {
        (self.home, self.live, self.logger) = (home, live, logger)
        journal = JournalReader(folder: home.state, dialects: .known)
        receiver = ReceiverConnection(home)
    }

    package var settings: Settings { live.current }

    /// The peers that the user knows.
    package var people: Acquaintances { Acquaintances(home.contactBook()) }
}
