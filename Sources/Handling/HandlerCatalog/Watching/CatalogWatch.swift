package import Logging

/// Keeps a current snapshot of the handlers: notices added, changed and removed bundles and the user's choices without
/// a restart.
///
/// Its own thread receives the kernel's events, and reads the catalog once no event has come for a moment, so that a
/// bundle that is being copied is read complete. An old handler must not judge an offer during that delay: each use
/// also compares the files' times, unless the last comparison is younger than `maximumAge`. Without the kernel's events
/// each use compares them.
package final class CatalogWatch: Sendable {
    private let core: WatchCore

    /// Reads the catalog once, and waits for that.
    ///
    /// - Parameters:
    ///   - listening: whether to ask the kernel for events; if not, each use compares the files' times.
    ///   - quiet: the time without events after which the catalog is read again.
    ///   - maximumAge: how long a comparison of the files' times stays valid while it is listening.
    package init(
        _ catalog: HandlerCatalog,
        listening: Bool = true,
        quiet: Duration = .milliseconds(100),
        maximumAge: Duration = .milliseconds(100),
        logger: Logger
    ) {
        core = WatchCore(catalog, quiet: quiet, maximumAge: maximumAge, logger: logger)
        core.begin(listening: listening)
    }

    deinit {
        core.stop()
    }

    /// The handlers, at most `maximumAge` old. May wait for the disk.
    package var current: CatalogSnapshot { core.current }

    /// Reads the catalog now. The result and each later `current` include all changes made before this call.
    @discardableResult
    package func refresh() -> CatalogSnapshot { core.refresh() }

    /// Whether the kernel reports changes; if not, only a use of `current` notices them.
    package var isListening: Bool { core.isListening }

    /// Each snapshot from now on that differs from the one before it. A slow reader gets only the newest. Ends with the
    /// watch.
    package func changes() -> AsyncStream<CatalogSnapshot> { core.changes() }

    /// Ends the thread and all streams; `current` keeps its value. Can be called twice.
    package func stop() { core.stop() }
}
