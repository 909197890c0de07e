import Contacts
import Endpoints
import Handlers
import Logging
import ServiceManager
import Settings
import Sharing

/// Everything from which the parts of a receiver are made.
struct ReceiverPlan: Sendable {
    let home: Home
    /// The settings that count now.
    let live: LiveSettings
    /// The programs that they name.
    let programs: CurrentPrograms
    /// Overrides the stored visibility until the user chooses one with `waft visible`; nil uses the stored one.
    let visibility: Visibility?
    /// The dialects to speak, in order of preference.
    let kinds: [EndpointKind]
    /// Sockets that the service manager has opened.
    let sockets: PassedSockets
    /// Those that hear of each event.
    let listeners: ReceiverListeners
    let logger: Logger

    var settings: Settings { live.current }
    /// The offers that wait.
    var consent: ConsentQueue { listeners.consent }
}
