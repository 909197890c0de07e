package import Logging
import Synchronization

/// The settings that a receiver uses now. Its parts ask for them each time, and keep no copy.
package final class LiveSettings: Sendable {
    private let state: Mutex<Settings>

    package init(_ settings: Settings) {
        state = Mutex(settings)
    }

    package var current: Settings { state.withLock { $0 } }

    package var logLevel: Logger.Level { state.withLock { $0.logLevel } }

    /// Replaces all settings at once.
    package func use(_ settings: Settings) { state.withLock { $0 = settings } }
}
