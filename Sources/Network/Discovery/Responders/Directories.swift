package import Logging

/// The implementations of ``ServiceDirectory``.
package enum Directories {
    /// Through avahi-daemon where it answers, embedded where it does not, moving between them as it comes and goes.
    ///
    /// - Parameters:
    ///   - denied: names of interfaces to leave alone.
    ///   - logger: what changes is told at info and debug, what keeps discovery from working at warning.
    /// - Throws: ``DiscoveryError`` `.noResources`.
    package static func automatic(
        denied: InterfacePatterns = .virtual,
        logger: Logger = Logger(label: "waft.discovery")
    ) throws(DiscoveryError) -> any ServiceDirectory {
        AutomaticDirectory(
            daemon: try AvahiDirectory(backend: .daemon, denied: denied, logger: logger),
            embedded: try AvahiDirectory(backend: .embedded, denied: denied, logger: logger),
            logger: logger
        )
    }

    /// Through avahi-daemon alone.
    ///
    /// - Throws: ``DiscoveryError`` `.noResources`.
    package static func daemon(
        denied: InterfacePatterns = .virtual,
        logger: Logger = Logger(label: "waft.discovery")
    ) throws(DiscoveryError) -> any ServiceDirectory {
        try AvahiDirectory(backend: .daemon, denied: denied, logger: logger)
    }

    /// Through a responder within the process, whether avahi-daemon runs or not.
    ///
    /// - Throws: ``DiscoveryError`` `.noResources`.
    package static func embedded(
        denied: InterfacePatterns = .virtual,
        logger: Logger = Logger(label: "waft.discovery")
    ) throws(DiscoveryError) -> any ServiceDirectory {
        try AvahiDirectory(backend: .embedded, denied: denied, logger: logger)
    }
}
