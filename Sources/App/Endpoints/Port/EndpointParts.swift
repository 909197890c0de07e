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
    /// Holds the certificates of dialects that have their own; nil for ones that live in memory only.
    package var folder: String?
    /// Whether this machine may announce itself to strangers.
    package var announces: @Sendable () async -> Bool
    /// The radio backend of AirDrop.
    package var radio: Radio
    package var logger: Logger

    package init(
        settings: LiveSettings, identity: Identity, directory: SharedDirectory? = nil, contacts: ContactBook?,
        blocking: BlockingExecutor, sockets: PassedSockets = PassedSockets(), folder: String? = nil,
        announces: @escaping @Sendable () async -> Bool = { false }, radio: Radio? = nil, logger: Logger
    ) {
        self.radio = radio ?? Radio(settings)
        (self.settings, self.identity) = (settings, identity)
        self.directory = directory ?? SharedDirectory(settings, logger: logger)
        (self.contacts, self.blocking, self.sockets, self.logger) = (contacts, blocking, sockets, logger)
        (self.folder, self.announces) = (folder, announces)
    }

    /// Whether peers can be searched for; otherwise they are reached by address only.
    package var searches: Bool { (try? directory.current?.get()) != nil || settings.current.askedDomains != nil }
}
