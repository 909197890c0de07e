import DBusClient
import Desktop
import FakeLogind
import Logging
import TestSupport
import Testing

/// A `LockWatch` that runs, and its events.
final class WatchedLock: Sendable {
    let events = Recorder<LockEvent>()
    /// The lines that it logs at the level of warnings.
    let warnings = Recorder<String>()
    let watch: LockWatch
    private let task: Task<Void, Never>

    /// - Parameter handle: called with each event after it was recorded.
    init(
        _ bus: String, session: BusAddress? = nil, lockOnScreenSaver: Bool = false,
        handle: @escaping @Sendable (LockEvent) async -> Void = { _ in }
    ) throws {
        let (events, warnings) = (events, warnings)
        watch = LockWatch(
            bus: try #require(BusAddress(bus)), session: session, lockOnScreenSaver: lockOnScreenSaver,
            firstPause: .milliseconds(1), logger: Logger(label: "test") { _ in WarningLog(lines: warnings) })
        task = Task { [watch] in
            await watch.run { event in
                events.record(event)
                await handle(event)
            }
        }
    }

    deinit {
        task.cancel()
    }

    /// Ends it, and waits for that.
    func end() async {
        task.cancel()
        await task.value
    }
}

/// A log that records its warnings.
struct WarningLog: LogHandler {
    let lines: Recorder<String>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.warning

    init(lines: Recorder<String>) {
        self.lines = lines
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        lines.record("\(event.message)")
    }
}
