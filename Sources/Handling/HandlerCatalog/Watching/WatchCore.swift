import CLinuxShims
import Executors
import Glibc
import Logging
import Streams
import Synchronization
import SystemCalls

/// The state that the watch and its thread share. The thread does not keep the watch itself alive.
final class WatchCore: Sendable {
    private struct State {
        var snapshot: CatalogSnapshot
        var isListening = false
        var isStopped = false
    }

    /// The files that the snapshot was read from, and the time of the last comparison with the disk.
    private struct Look {
        var places: WatchedPaths
        var stamps: [String: WatchedPaths.Stamp]
        var compared: ContinuousClock.Instant
    }

    private let catalog: HandlerCatalog
    private let quiet: Duration
    private let maximumAge: Duration
    private let logger: Logger
    private let state: Mutex<State>
    private let snapshots = Broadcast<CatalogSnapshot>(buffer: .bufferingNewest(1))
    /// Held while the catalog is read and published, so that an older reading never replaces a newer one.
    private let look: Mutex<Look?>
    /// Written to when the thread must end; nil if it could not be made.
    private let wake: Wake?

    init(_ catalog: HandlerCatalog, quiet: Duration, maximumAge: Duration, logger: Logger) {
        self.catalog = catalog
        self.quiet = quiet
        self.maximumAge = maximumAge
        self.logger = logger
        state = Mutex(State(snapshot: CatalogSnapshot(bundles: [], rule: catalog.rule)))
        look = Mutex(nil)
        wake = Wake()
    }

    func begin(listening: Bool) {
        if listening, wake != nil {
            do throws(SystemError) {
                let events = try FolderEvents()
                try read(events)
                state.withLock { $0.isListening = true }
                let run = Transferred(value: events)
                if BackgroundThread.start("waft-handlers", { [self] in listen(run.value) }) { return }
                throw SystemError(EAGAIN)
            } catch {
                stopListening(error)
            }
        }
        _ = current
    }

    var isListening: Bool { state.withLock { $0.isListening } }

    var current: CatalogSnapshot {
        let (snapshot, isListening, isStopped) = state.withLock { ($0.snapshot, $0.isListening, $0.isStopped) }
        return isStopped ? snapshot : looked(within: isListening ? maximumAge : .zero)
    }

    func refresh() -> CatalogSnapshot {
        look.withLock { look in
            if !state.withLock({ $0.isStopped }) { read(&look) }
        }
        return state.withLock { $0.snapshot }
    }

    func changes() -> AsyncStream<CatalogSnapshot> { snapshots.watch() }

    func stop() {
        state.withLock { $0.isStopped = true }
        snapshots.end()
        wake?.signal()
    }

    // MARK: Listening

    /// Runs on the watch's own thread until it is stopped.
    private func listen(_ events: FolderEvents) {
        guard let wake else { return }
        while true {
            switch wait(events, wake, nil) {
            case .stopped: return
            // EINTR: a signal came.
            case .nothing: continue
            case .events: break
            }
            guard events.drain() else { continue }
            guard settle(events, wake) else { return }
            do {
                try read(events)
            } catch {
                stopListening(error)
                _ = current
                return
            }
        }
    }

    private enum Waited {
        case events
        case nothing
        case stopped
    }

    /// Waits until no event that matters has come for `quiet`, or at most twenty times as long.
    /// - Returns: false if it was stopped meanwhile.
    private func settle(_ events: FolderEvents, _ wake: Wake) -> Bool {
        let end = ContinuousClock.now + quiet * 20
        var next = ContinuousClock.now + quiet
        while true {
            let now = ContinuousClock.now
            guard now < min(next, end) else { return true }
            switch wait(events, wake, min(next, end) - now) {
            case .stopped: return false
            case .nothing: continue
            case .events: if events.drain() { next = ContinuousClock.now + quiet }
            }
        }
    }

    private func wait(_ events: FolderEvents, _ wake: Wake, _ limit: Duration?) -> Waited {
        var files = [
            pollfd(fd: events.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        let milliseconds = limit.map { Int32(clamping: $0.components.seconds * 1_000 + $0.milliseconds) } ?? -1
        let count = poll(&files, nfds_t(files.count), milliseconds)
        if files[1].revents != 0 { return .stopped }
        return count > 0 ? .events : .nothing
    }

    /// Watches the folders, then reads everything, so that changes during the reading are noticed.
    private func read(_ events: FolderEvents) throws(SystemError) {
        try look.withLock { look throws(SystemError) in
            // Enough tries for every folder of a path to be made meanwhile. If they do not suffice, events follow.
            let tries = 16
            var base = WatchedPaths(catalog)
            for _ in 0..<tries where try events.cover(base.interests, isAll: false) { base = WatchedPaths(catalog) }
            for bundle in catalog.list().bundles { base.add(bundle) }
            _ = try events.cover(base.interests, isAll: false)
            for _ in 0..<tries {
                // Only folders deep in a bundle, and bundles added meanwhile, can be new here.
                guard try events.cover(read(&look).interests, isAll: true) else { return }
            }
        }
    }

    private func stopListening(_ error: SystemError) {
        logger.warning(
            "changes of handlers cannot be listened for; they are looked for at each use",
            metadata: ["reason": "\(error)"]
        )
        state.withLock { $0.isListening = false }
    }

    // MARK: Looking

    /// The snapshot, read again if a file has changed.
    ///
    /// - Parameter age: how long a comparison with the disk stays valid.
    private func looked(within age: Duration) -> CatalogSnapshot {
        look.withLock { look in
            let now = ContinuousClock.now
            if let known = look {
                if now - known.compared < age { return }
                if known.places.stamps() == known.stamps {
                    look?.compared = now
                    return
                }
            }
            read(&look)
        }
        return state.withLock { $0.snapshot }
    }

    /// Reads everything and publishes it.
    ///
    /// Takes stamps before it reads the files, so that the next look finds a change made during the reading.
    @discardableResult
    private func read(_ look: inout Look?) -> WatchedPaths {
        let now = ContinuousClock.now
        var places = WatchedPaths(catalog)
        var stamps = places.stamps()
        let list = catalog.list()
        for bundle in list.bundles { places.add(bundle) }
        stamps.merge(places.stamps()) { before, _ in before }
        let (snapshot, readings) = catalog.read(list)
        for reading in readings { places.add(reading) }
        stamps.merge(places.stamps()) { before, _ in before }
        look = Look(places: places, stamps: stamps, compared: now)
        publish(snapshot)
        return places
    }

    private func publish(_ snapshot: CatalogSnapshot) {
        let isNew = state.withLock { state in
            guard !state.isStopped, !snapshot.isSame(as: state.snapshot) else { return false }
            state.snapshot = snapshot
            return true
        }
        if isNew { snapshots.send(snapshot) }
    }
}

/// Passes a value to the one thread that will use it.
private struct Transferred<Value>: @unchecked Sendable {
    let value: Value
}

/// A descriptor that becomes readable once.
private final class Wake: Sendable {
    private let file: Int32

    init?() {
        file = CLinuxShims_eventfd()
        if file < 0 { return nil }
    }

    deinit {
        if file >= 0 { close(file) }
    }

    var descriptor: Int32 { file }

    func signal() {
        var one: UInt64 = 1
        write(file, &one, MemoryLayout<UInt64>.size)
    }
}

extension Duration {
    /// The part below a second, in milliseconds, rounded up.
    fileprivate var milliseconds: Int64 { (components.attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000 }
}
