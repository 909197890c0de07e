package import Discovery
package import Logging
package import Settings
import Synchronization

/// The responder through which all services are published and found, while the settings say so. One for all: two
/// responders in one process would take each other for other machines.
package final class SharedDirectory: Sendable {
    let settings: LiveSettings
    private let make: @Sendable (InterfacePatterns) throws -> any ServiceDirectory
    private let made = Mutex<(any ServiceDirectory)?>(nil)

    /// - Parameter make: called at the first use, and again if it has thrown.
    package init(
        _ settings: LiveSettings, make: @escaping @Sendable (InterfacePatterns) throws -> any ServiceDirectory
    ) {
        (self.settings, self.make) = (settings, make)
    }

    package convenience init(_ settings: LiveSettings, logger: Logger) {
        self.init(settings) { try Directories.automatic(denied: $0, logger: logger) }
    }

    /// Nil while discovery is off.
    package var current: Result<any ServiceDirectory, any Error>? {
        let settings = settings.current
        guard settings.discovery else { return nil }
        return Result {
            try made.withLock { made in
                if let made { return made }
                let directory = try make(settings.denied)
                made = directory
                return directory
            }
        }
    }

    /// Uses the interfaces that the settings allow now.
    package func interfacesChanged() async {
        await made.withLock { $0 }?.deny(settings.current.denied)
    }
}
