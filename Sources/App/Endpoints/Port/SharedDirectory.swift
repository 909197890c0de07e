package import Discovery
package import Logging
package import Settings
import Synchronization

/// The responder through which all services are published and found, while the settings say so. One for all: two
/// responders in one process would take each other for other machines.
package final class SharedDirectory: Sendable {
    private let settings: LiveSettings
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

// MARK: - Announcing

/// How far an announcement has come.
package enum AnnouncementState: Sendable {
    /// Discovery is off.
    case off
    case beginning
    case published
    case failed(any Error)
}

extension SharedDirectory {
    /// Announces a service whenever discovery is on, until the task is cancelled.
    /// - Parameter told: called for each state.
    func announce(
        _ service: ServiceDescription, for host: ReceivingHost, _ told: (AnnouncementState) -> Void
    ) async {
        while !Task.isCancelled {
            let directory = current
            var publication: (any Publication)?
            do {
                told(directory == nil ? .off : .beginning)
                publication = try await directory?.get().publish(service)
                if publication != nil { told(.published) }
            } catch is CancellationError {
                return
            } catch {
                told(.failed(error))
            }
            let isOn = directory != nil
            await host.visibility.wait { _ in self.settings.current.discovery != isOn }
            await publication?.withdraw()
        }
    }
}
