import Digests
import ItemSources
import Logging
import Sharing
import Synchronization
import TestSupport

@testable import Outbox

let someTime = WallTime(milliseconds: 1_700_000_000_000)
let anna = PeerID(fingerprint: Array(repeating: 7, count: 32))
let bert = PeerID(fingerprint: Array(repeating: 9, count: 32))

extension OutboxStore {
    /// Puts files into the outbox, by reference.
    @discardableResult
    func queue(_ paths: String..., to destination: String = "kitchen", key: PeerID? = anna) throws -> JobNumber {
        let draft = try OutboxDraft.make(in: self)
        for path in paths { try draft.addReference(ItemSources.make(path: path), path: path) }
        return try draft.commit(to: .init(text: destination, key: key), at: someTime).number
    }
}

extension SettledItem {
    static func stored(_ name: String) -> SettledItem {
        SettledItem(stored: name, size: 1, digest: "xxh3-128:0", handler: HandlerAnswer(.none))
    }
}

/// A clock that the test advances.
final class ManualClock: Sendable {
    private struct State {
        var passed: Duration = .zero
        /// How far the wall clock has been set forward, in milliseconds.
        var setForward: Int64 = 0
        var sleepers: [Int: (until: Duration, continuation: CheckedContinuation<Void, any Error>)] = [:]
        var next = 0
    }

    private let state = Mutex(State())
    /// The durations of the requested sleeps.
    let asked = Recorder<Duration>()

    var clock: OutboxClock {
        OutboxClock(
            now: {
                let (passed, forward) = self.state.withLock { ($0.passed, $0.setForward) }
                return WallTime(milliseconds: someTime.milliseconds + Int64(passed / .milliseconds(1)) + forward)
            },
            uptime: { self.passed },
            sleep: { try await self.sleep($0) })
    }

    private var passed: Duration { state.withLock { $0.passed } }

    /// Sets the wall clock; no time passes.
    func setForward(_ milliseconds: Int64) { state.withLock { $0.setForward += milliseconds } }

    func advance(_ time: Duration) {
        let woken = state.withLock { state in
            state.passed += time
            let due = state.sleepers.filter { $0.value.until <= state.passed }
            for number in due.keys { state.sleepers[number] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in woken { continuation.resume() }
    }

    /// Advances by a minute and waits until the engine has noticed: it wakes at least once a minute.
    func advanceMinute() async throws {
        let count = asked.count
        advance(.seconds(60))
        try await asked.element(count + 1)
    }

    private func sleep(_ time: Duration) async throws {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let isOver = state.withLock { state in
                    if Task.isCancelled || time <= .zero { return true }
                    state.sleepers[number] = (state.passed + time, continuation)
                    return false
                }
                asked.record(time)
                if isOver { continuation.resume() }
            }
            try Task.checkCancellation()
        } onCancel: {
            let sleeper = state.withLock { $0.sleepers.removeValue(forKey: number) }
            sleeper?.continuation.resume()
        }
    }
}

/// A network that does what the test says.
final class ScriptedSender: OutboxSending {
    typealias Note = @Sendable (OutboxStep) throws(OutboxError) -> Void
    typealias Script = @Sendable (OutboxShipment, Cancellation, Note) async -> OutboxResult

    private let script: Script
    private let seen: AsyncStream<OutboxAppearance>
    private let feed: AsyncStream<OutboxAppearance>.Continuation
    let shipments = Recorder<OutboxShipment>()

    init(_ script: @escaping Script) {
        self.script = script
        (seen, feed) = AsyncStream.makeStream()
    }

    func send(
        _ shipment: OutboxShipment, cancellation: Cancellation, note: @escaping Note
    ) async -> OutboxResult {
        shipments.record(shipment)
        return await script(shipment, cancellation, note)
    }

    func appearances() -> AsyncStream<OutboxAppearance> { seen }

    func appear(_ id: PeerID, _ name: String? = nil) { feed.yield(OutboxAppearance(id: id, name: name)) }

    /// Offers, and stores everything.
    static let storing: Script = { shipment, _, note in
        do {
            try note(.offering(shipment.transfer, shipment.open, to: shipment.peer ?? anna!, callingItself: "Kitchen"))
            _ = try shipment.sources(shipment.open)
        } catch {
            return OutboxResult(
                failure: error as? OutboxJobError ?? OutboxJobError(.unexpected, "\(error)", isFinal: true))
        }
        return OutboxResult(
            outcomes: Dictionary(uniqueKeysWithValues: shipment.open.map { ($0, .stored("item-\($0)")) }))
    }

    static func failing(_ code: OutboxJobError.Code, isFinal: Bool = false) -> Script {
        { _, _, _ in OutboxResult(failure: OutboxJobError(code, "not now", isFinal: isFinal)) }
    }
}

/// An engine that runs as long as `body` does.
func withEngine<Value>(
    _ store: OutboxStore, _ sender: ScriptedSender, _ clock: ManualClock = ManualClock(), places: Int = 4,
    reporting: @escaping @Sendable (OutboxStore.Record) async -> Void = { _ in },
    _ body: (OutboxEngine, Recorder<OutboxStore.Record>) async throws -> Value
) async throws -> Value {
    let reports = Recorder<OutboxStore.Record>()
    let engine = OutboxEngine(
        store: store, sender: sender, places: places, clock: clock.clock,
        report: { record in
            reports.record(record)
            await reporting(record)
        },
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    let running = Task { await engine.run() }
    let result: Result<Value, any Error>
    do { result = .success(try await body(engine, reports)) } catch { result = .failure(error) }
    running.cancel()
    await running.value
    return try result.get()
}
