package import Logging

/// Keeps a snapshot of the handlers that is never old: bundles that come, change and go, and the user's choices, are
/// noticed without a restart.
///
/// A thread of its own receives the kernel's events, and reads again once there was none for a moment: a bundle that is
/// being copied is read when it is complete. That delay must not let an old handler judge an offer: each use also
/// compares the files' times, unless the last comparison is younger than `maximumAge`. Without the kernel's events each
/// use compares them.
package final class CatalogWatch: Sendable {
    private let core: WatchCore

    /// Reads the catalog once, and waits for that.
    ///
    /// - Parameters:
    ///   - listening: whether to ask the kernel for events; if not, each use looks.
    ///   - quiet: for how long nothing may have happened before it is read again.
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

    /// The handlers as they were at most `maximumAge` ago. May wait for the disk.
    package var current: CatalogSnapshot { core.current }

    /// Reads the catalog now. The result and each later `current` include all changes made before this call.
    @discardableResult
    package func refresh() -> CatalogSnapshot { core.refresh() }

    /// Whether changes are noticed by themselves; if not, they are when somebody asks for `current`.
    package var isListening: Bool { core.isListening }

    /// Every snapshot that differs from the one before it, from now on; the newest alone where they are not taken in
    /// time. Ends when the watch does.
    package func changes() -> AsyncStream<CatalogSnapshot> { core.changes() }

    /// Ends the thread and all streams; `current` stays what it was. Can be called twice.
    package func stop() { core.stop() }
}
