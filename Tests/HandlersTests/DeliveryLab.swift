import Digests
import HandlerCatalog
import Handlers
import Logging
import Sharing
import Synchronization
import TestSupport
import UniformTypes

/// A clock that only the test moves.
final class ManualClock: Sendable {
    private struct State {
        var uptime: Duration = .zero
        var sleepers: [Int: (until: Duration, CheckedContinuation<Void, any Error>)] = [:]
        var cancelled: Set<Int> = []
        var next = 0
    }

    private let state = Mutex(State())
    /// The end time of each sleep, recorded as it begins.
    let sleeps = Recorder<Duration>()

    /// The wall-clock time at uptime 0, in milliseconds.
    static let start: Int64 = 1_000_000

    var clock: DeliveryClock {
        DeliveryClock(
            now: { self.wallTime },
            uptime: { self.state.withLock { $0.uptime } },
            sleep: { try await self.sleep($0) }
        )
    }

    var wallTime: WallTime {
        let uptime = state.withLock { $0.uptime }
        return WallTime(milliseconds: Self.start + uptime.components.seconds * 1_000)
    }

    func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.uptime += duration
            let woken = state.sleepers.filter { $0.value.until <= state.uptime }
            for id in woken.keys { state.sleepers[id] = nil }
            return woken.values.map(\.1)
        }
        for continuation in woken { continuation.resume() }
    }

    private func sleep(_ duration: Duration) async throws {
        let (id, until) = state.withLock { state in
            state.next += 1
            return (state.next, state.uptime + duration)
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let isOver = state.withLock { state -> Bool? in
                    if state.cancelled.contains(id) { return true }
                    if until <= state.uptime { return false }
                    state.sleepers[id] = (until, continuation)
                    return nil
                }
                if let isOver {
                    isOver ? continuation.resume(throwing: CancellationError()) : continuation.resume()
                }
                sleeps.record(until)
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                state.cancelled.insert(id)
                return state.sleepers.removeValue(forKey: id)
            }
            sleeper?.1.resume(throwing: CancellationError())
        }
    }
}

/// A caller of handlers whose answers and their times the test decides.
final class ScriptedCaller: HandlerCalling {
    /// The calls that have begun, in order.
    let calls = Recorder<DeliveryCall>()
    /// The handlers that were notified that no items are left for them.
    let rested = Recorder<String>()
    let stops = Recorder<Void>()
    /// The items that are about to leave the Inbox while a handler has them.
    let moves = Recorder<ArrivalNumber>()

    private let script: @Sendable (DeliveryCall) -> AttemptOutcome?
    private let waiting = Mutex<[ArrivalNumber: CheckedContinuation<CallResult, Never>]>([:])
    private let underWay = Mutex((now: 0, most: 0))

    /// - Parameter script: nil to wait for `answer`, or for the end of the receiver.
    init(_ script: @escaping @Sendable (DeliveryCall) -> AttemptOutcome? = { _ in AttemptOutcome(.yes, exitCode: 0) }) {
        self.script = script
    }

    /// The maximum number of calls that were under way at once.
    var most: Int { underWay.withLock { $0.most } }

    func call(_ call: DeliveryCall) async -> CallResult {
        underWay.withLock { state in
            state.now += 1
            state.most = max(state.most, state.now)
        }
        defer { underWay.withLock { $0.now -= 1 } }
        if let outcome = script(call) {
            calls.record(call)
            return .answered(outcome)
        }
        let number = call.numbers[0]
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waiting.withLock { $0[number] = continuation }
                calls.record(call)
                if Task.isCancelled { end(number) }
            }
        } onCancel: {
            end(number)
        }
    }

    /// The handlers whose programs are missing.
    let missing = Mutex<Set<String>>([])

    func absence(of program: HandlerProgram) -> String? {
        missing.withLock { $0.contains(program.identifier) } ? "its program does not exist" : nil
    }

    func itemWillMove(_ number: ArrivalNumber) async { moves.record(number) }
    func rests(_ handler: String) async { rested.record(handler) }
    func stop() async { stops.record(()) }

    /// Answers the call for an arrival (the first of a batch). Wait until the call has begun.
    func answer(_ number: ArrivalNumber, _ outcome: AttemptOutcome) {
        guard let continuation = waiting.withLock({ $0.removeValue(forKey: number) }) else {
            preconditionFailure("no handler is being called for \(number)")
        }
        continuation.resume(returning: .answered(outcome))
    }

    /// Reports that the handler cannot be called for a while.
    /// Ends a call for an arrival whose contents cannot be opened.
    func lock(_ number: ArrivalNumber) {
        waiting.withLock { $0.removeValue(forKey: number) }?.resume(returning: .locked)
    }

    func postpone(_ number: ArrivalNumber, _ wait: Duration) {
        waiting.withLock { $0.removeValue(forKey: number) }?.resume(returning: .postponed(wait))
    }

    private func end(_ number: ArrivalNumber) {
        waiting.withLock { $0.removeValue(forKey: number) }?.resume(returning: .cutShort)
    }
}

/// A delivery engine with its fakes: a journal in memory, a clock that stands still, and scripted handlers. The files
/// are real files in a folder.
final class DeliveryLab: Sendable {
    let journal: MemoryJournal
    let clock: ManualClock
    let caller: ScriptedCaller
    let folder: TemporaryFolder
    /// The handler answers that waiting senders received, in order.
    let answers = Recorder<(ArrivalNumber, HandlerAnswer.State)>()
    private let bundles: Bundles
    /// Whether the Inbox's disk is mounted.
    let isMounted: Gate
    let engine: DeliveryEngine

    /// The handlers that are installed.
    private final class Bundles: Sendable {
        let all: Mutex<[HandlerBundle]>

        init(_ bundles: [HandlerBundle]) { all = Mutex(bundles) }
    }

    init(
        _ bundles: [HandlerBundle],
        hook: HandlerProgram? = nil,
        journal: MemoryJournal? = nil,
        caller: ScriptedCaller = ScriptedCaller(),
        copies: (any ClearCopying)? = nil,
        places: Int = 4,
        isMounted: Bool = true,
        findAgain: @escaping @Sendable (Arrival) -> Arrival? = { _ in nil },
        clock: ManualClock = ManualClock(),
        folder: TemporaryFolder = TemporaryFolder()
    ) {
        self.bundles = Bundles(bundles)
        self.clock = clock
        self.journal = journal ?? MemoryJournal(now: { clock.wallTime })
        self.caller = caller
        self.folder = folder
        let installed = self.bundles
        let mounted = Gate()
        if isMounted { mounted.open() }
        self.isMounted = mounted
        engine = DeliveryEngine(
            journal: self.journal,
            caller: caller,
            surroundings: DeliverySurroundings(
                choice: HandlerChoice(
                    catalog: { CatalogSnapshot(bundles: installed.all.withLock { $0 }) }, hook: hook),
                subject: {
                    HandlerChoice.Subject(
                        type: $0.type, kind: $0.item.kind, chosen: $0.destination.handler, protection: $0.protection)
                },
                observe: { [answers] in answers.record(($0.number, $1.state)) },
                isInboxThere: { mounted.isOpen }, findAgain: findAgain, copies: copies),
            places: places, clock: clock.clock,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    /// A new process with the same disk and the same time.
    func restarted(_ caller: ScriptedCaller = ScriptedCaller()) -> DeliveryLab {
        DeliveryLab(bundles.all.withLock { $0 }, journal: journal, caller: caller, clock: clock, folder: folder)
    }

    /// Runs the engine for as long as `body` takes, and then until it has ended.
    func run(_ body: (DeliveryEngine) async throws -> Void) async throws {
        let running = Task { await engine.run() }
        do {
            try await body(engine)
        } catch {
            running.cancel()
            await running.value
            throw error
        }
        running.cancel()
        await running.value
    }

    /// Replaces the installed handlers.
    func install(_ bundles: [HandlerBundle], in engine: DeliveryEngine) {
        self.bundles.all.withLock { $0 = bundles }
        engine.handlersChanged()
    }

    /// Items of one transfer that are in the Inbox and in the journal.
    func arrive(
        _ count: Int = 1, type: String = "public.png", transfer: TransferID = TransferID(), isThere: Bool = true,
        to handler: String? = nil
    ) throws -> [Arrival] {
        let facts = (0..<count).map { number in
            self.facts(type, transfer, number, of: count, Destination(handler: handler.map { safe($0) }, folder: nil))
        }
        let numbers = try journal.intend(facts.map { IntendedArrival(facts: $0, identity: nil, isDelivered: true) })
        var arrivals: [Arrival] = []
        for (number, facts) in zip(numbers, facts) {
            let name = "file-\(number)"
            if isThere { _ = folder.file(name, "hello") }
            let stored = StoredItem(name: safe(name), path: folder.path + "/" + name)
            arrivals.append(Arrival(number: number, facts: facts, stored: stored))
        }
        try journal.settle(arrivals.map { ($0.number, $0.stored) })
        return arrivals
    }

    /// An item in the place of an earlier one.
    func arrive(at stored: StoredItem) throws -> Arrival {
        let facts = self.facts("public.png", TransferID(), 0, of: 1, Destination(handler: nil, folder: nil))
        let number = try journal.intend([IntendedArrival(facts: facts, identity: nil, isDelivered: true)])[0]
        try journal.settle([(number: number, stored: stored)])
        return Arrival(number: number, facts: facts, stored: stored)
    }

    private func facts(
        _ type: String, _ transfer: TransferID, _ number: Int, of count: Int, _ destination: Destination
    ) -> ArrivalFacts {
        ArrivalFacts(
            transfer: transfer, itemNumber: number, itemsInOffer: count,
            item: OfferedItem(kind: .file, name: safe("file-\(number)"), type: uniform(type), size: 5),
            size: 5, digest: .of(.xxh3_128, []), peer: .sample(1), senderName: "a test", annotation: [:],
            destination: destination)
    }

    func deliver(_ arrivals: [Arrival], to engine: DeliveryEngine) {
        engine.deliver(arrivals) { [answers] arrival, answer in answers.record((arrival.number, answer.state)) }
    }

    /// The state in which a delivery is.
    func state(_ arrival: Arrival) -> DeliveryState? { journal[arrival.number]?.state }

    /// Waits until a delivery has reached a state.
    func wait(for arrival: Arrival, _ state: DeliveryState) async throws {
        _ = try await journal.changes.first { $0.number == arrival.number && $0.state == state }
    }
}

extension HandlerBundle {
    /// A handler that opens a type.
    static func sample(
        _ name: String, opens type: String = "public.image", mode: LaunchRules.Mode = .perItem, installed: Int64 = 0
    ) -> HandlerBundle {
        HandlerBundle(
            identifier: BundleIdentifier("org.example." + name) ?? .inbox,
            name: name,
            path: "/handlers/\(name).handler",
            origin: .user,
            installed: Timestamp(seconds: installed, nanoseconds: 0),
            executable: "/handlers/\(name).handler/run",
            documentTypes: [DocumentType(name: "Things", contents: .types([uniform(type)]), rank: .default)],
            launch: LaunchRules(mode: mode)
        )
    }
}

/// Has room for some clear copies.
struct FewCopies: ClearCopying {
    var most: Int

    var isProtectedDataAvailable: Bool? { true }
    func canOpen(_ protection: ProtectionClass) -> Bool { true }
    func folder(of handler: String) -> String? { nil }
    func fits(_ arrivals: [Arrival]) -> Bool { arrivals.count <= most }
    func open(_ arrivals: [Arrival], for handler: String) throws(ClearCopyError) -> [Arrival] { arrivals }
    func close(_ copies: [Arrival]) -> Set<ArrivalNumber> { [] }
    func remove(_ arrival: Arrival) {}
}
