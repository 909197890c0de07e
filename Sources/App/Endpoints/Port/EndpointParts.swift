package import Contacts
package import Discovery
package import Executors
package import Logging
package import SecureTransport
package import ServiceManager
package import Settings

/// The parts from which endpoints are made.
package struct EndpointParts: Sendable {
    package var settings: Settings
    package var identity: Identity
    /// The responder through which all services are published and found; nil if discovery is off. One for all: two
    /// responders in one process would take each other for other machines.
    package var directory: Result<any ServiceDirectory, any Error>?
    /// Nil if there are no contacts.
    package var contacts: ContactBook?
    /// Threads for conversations that read or write the disk.
    package var blocking: BlockingExecutor
    /// The sockets that the service manager has opened, by the names of `Endpoints.sockets`.
    package var sockets: PassedSockets
    package var logger: Logger

    package init(
        settings: Settings, identity: Identity, directory: Result<any ServiceDirectory, any Error>?,
        contacts: ContactBook?, blocking: BlockingExecutor, sockets: PassedSockets = PassedSockets(), logger: Logger
    ) {
        (self.settings, self.identity, self.directory) = (settings, identity, directory)
        (self.contacts, self.blocking, self.sockets, self.logger) = (contacts, blocking, sockets, logger)
    }
}
