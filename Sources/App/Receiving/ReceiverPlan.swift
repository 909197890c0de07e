import Contacts
import Control
import Desktop
import Endpoints
import HandlerCatalog
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
    /// The offers that wait. Every source of answers uses this queue.
    let consent: ConsentQueue
    let relay: EventRelay
    /// Shown on the desktop while the settings say so.
    let arrivals: ArrivalNotifications
    /// Called for each event, from any thread.
    let observe: @Sendable (ReceiverEvent) -> Void
    /// Used only while the settings say so.
    let inhibitor: SleepInhibitor
    /// Sockets that the service manager has opened.
    let sockets: PassedSockets
    /// Tells the service manager about this receiver; nil if none waits for that.
    let reports: ServiceReports?
    let logger: Logger

    var settings: Settings { live.current }
}
