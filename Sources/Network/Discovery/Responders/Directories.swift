package import Logging

/// The implementations of ``ServiceDirectory``.
package enum Directories {
    /// Uses avahi-daemon while it answers, else an embedded responder; moves when the daemon comes or goes.
    ///
    /// - Parameters:
    ///   - denied: names of interfaces that are not used.
    ///   - logger: logs changes at info and debug, and failures of discovery at warning.
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

    /// Uses avahi-daemon alone.
    ///
    /// - Throws: ``DiscoveryError`` `.noResources`.
    package static func daemon(
        denied: InterfacePatterns = .virtual,
        logger: Logger = Logger(label: "waft.discovery")
    ) throws(DiscoveryError) -> any ServiceDirectory {
        try AvahiDirectory(backend: .daemon, denied: denied, logger: logger)
    }

    /// Why no responder within the process is possible here; nil where one is.
    package static var embeddedFault: DiscoveryError? {
        do throws(DiscoveryError) { _ = try AvahiCore.functions.get() } catch { return error }
        return nil
    }

    /// Uses a responder within the process, whether avahi-daemon runs or not.
    ///
    /// - Throws: ``DiscoveryError`` `.noResources`.
    package static func embedded(
        denied: InterfacePatterns = .virtual,
        logger: Logger = Logger(label: "waft.discovery")
    ) throws(DiscoveryError) -> any ServiceDirectory {
        try AvahiDirectory(backend: .embedded, denied: denied, logger: logger)
    }
}
