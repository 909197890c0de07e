package import Contacts
package import Executors
package import Logging
package import SecureTransport
package import ServiceManager
package import Settings

/// The parts from which endpoints are made.
package struct EndpointParts: Sendable {
    package var settings: LiveSettings
    package var identity: Identity
    package var directory: SharedDirectory
    /// Nil if there are no contacts.
    package var contacts: ContactBook?
    /// Threads for conversations that read or write the disk.
    package var blocking: BlockingExecutor
    /// The sockets that the service manager has opened, by the names of `Endpoints.sockets`.
    package var sockets: PassedSockets
    package var logger: Logger

    package init(
        settings: LiveSettings, identity: Identity, directory: SharedDirectory? = nil, contacts: ContactBook?,
        blocking: BlockingExecutor, sockets: PassedSockets = PassedSockets(), logger: Logger
    ) {
        (self.settings, self.identity) = (settings, identity)
        self.directory = directory ?? SharedDirectory(settings, logger: logger)
        (self.contacts, self.blocking, self.sockets, self.logger) = (contacts, blocking, sockets, logger)
    }

    /// Whether peers can be searched for; otherwise they are reached by address only.
    package var searches: Bool { (try? directory.current?.get()) != nil || settings.current.askedDomains != nil }
}
