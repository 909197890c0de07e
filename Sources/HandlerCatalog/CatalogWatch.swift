package import Logging

/// Keeps a snapshot of the handlers that is never old: bundles that come, change and go, and the user's choices, are
/// noticed without a restart.
///
/// A thread of its own hears of changes and reads again once nothing has happened for a moment: a bundle that is just
/// being copied is read when it is whole, or again when it has become so. That takes a while, and an offer must not be
/// judged by handlers of before: a use also compares the files' times, if nobody did so a short time ago. Without events
/// from the kernel each use compares them.
package final class CatalogWatch: Sendable {
    private let core: WatchCore

    /// Reads the catalog once, and waits for that.
    ///
    /// - Parameters:
    ///   - listening: whether to ask the kernel for events; if not, each use looks.
    ///   - quiet: for how long nothing may have happened before it is read again.
    ///   - maximumAge: for how long a comparison of the files' times counts while it is listening.
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

    /// The handlers as they are, at most `maximumAge` ago. May wait for the disk.
    package var current: CatalogSnapshot { core.current }

    /// Reads the catalog now. What was changed before this call is in the result, and in `current` from then on.
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
