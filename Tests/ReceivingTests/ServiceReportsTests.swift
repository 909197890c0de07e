import Contacts
import ContentCheck
import Digests
import Endpoints
import Executors
import Foundation
import HandlerCatalog
import Handlers
import Logging
import NIOCore
import NIOPosix
import ServiceManager
import Settings
import Sharing
import Synchronization
import TestSupport
import Testing
import ToyDialect

@testable import Journal
@testable import Receiving

@Suite("A receiver and its service manager", .timeLimit(.minutes(1)))
struct ServiceReportsTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    private let folder = TemporaryFolder()

    @Test("the manager hears that the receiver is ready, its state, that it works, and that it stops")
    func wholeWay() async throws {
        let listener = NoticeListener(folder / "notify")
        let manager = try #require(
            ServiceManager(environment: ["NOTIFY_SOCKET": listener.address, "WATCHDOG_USEC": "1000000"]))
        let air = ToyAir()
        var settings = Settings(hostName: "kitchen")
        (settings.discovery, settings.notifications, settings.inhibitsSleep) = (false, .off, false)
        let home = try Home(environment: ["WAFT_HOME": folder / "home"])
        let receiver = Receiver(
            home: home, settings: LiveSettings(settings),
            visibility: .everyone,
            kinds: [EndpointKind(.toy) { ToyEndpoint(air, $0) }], manager: manager, logger: Self.logger
        ) { _ in }
        let task = Task { try await receiver.receive() }
        // The toy says first that it is closed.
        #expect(
            try await listener.first("READY=1") == ["READY=1", "STATUS=kitchen is not visible, and receives nothing"])
        try await listener.first("STATUS=receiving as kitchen on 1")
        try await listener.notices.first { $0 == ["WATCHDOG=1"] }
        #expect(listener.count("READY=1") == 1)
        task.cancel()
        try await task.value
        try await listener.first("STOPPING=1")
    }

    @Test("the line about the receiver counts transfers and offers")
    func line() {
        #expect(ServiceReports.line(name: "kitchen", port: 9238) == "receiving as kitchen on 9238")
        #expect(
            ServiceReports.line(name: "k", port: 1, transfers: 1, offers: 2)
                == "receiving as k on 1; 1 transfer, 2 offers wait")
        #expect(
            ServiceReports.line(name: "k", port: 1, transfers: 2, offers: 1)
                == "receiving as k on 1; 2 transfers, 1 offer waits")
    }

    @Test(
        "the manager hears nothing more while the event loop, the delivery engine or the journal is blocked",
        arguments: ["event loop 1", "delivery engine", "journal"])
    func blocked(part: String) async throws {
        let journal = try Journal(folder: folder / "state", dialects: DialectTable([.keyed]))
        let (gate, entered) = (Semaphore(), Recorder<Void>())
        let block: @Sendable () -> Void = {
            entered.record(())
            gate.wait()
        }
        let engine = DeliveryEngine(
            journal: MemoryJournal(), caller: NoCalls(),
            surroundings: DeliverySurroundings(
                choice: HandlerChoice(catalog: { CatalogSnapshot(bundles: []) }),
                subject: { arrival in
                    block()
                    return HandlerChoice.Subject(type: arrival.type, kind: arrival.item.kind)
                }),
            logger: Self.logger)
        let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let threads = BlockingExecutor(threads: 4)
        let delivering = Task { await engine.run(on: threads) }
        let (alive, silent) = (Recorder<Void>(), Recorder<[String]>())
        let rounds = Rounds()
        let watchdog = Watchdog(
            every: .seconds(1), ServiceReports.watched(engine: engine, journal: journal, loops: loops),
            on: threads, pause: rounds.pause
        ) {
            alive.record(())
        } silent: {
            silent.record($0)
        }
        let watching = Task { await watchdog.run() }
        try await alive.element(1)
        switch part {
        case "journal":
            Task(executorPreference: threads) { try journal.reading("could not wait") { _ in block() } }
        case "delivery engine": engine.deliver([try Self.arrival()]) { _, _ in }
        default: loops.next().execute(block)
        }
        try await entered.element(1)
        try await rounds.next()
        while watchdog.unanswered != [part] { try await Task.sleep(for: .milliseconds(1)) }
        for _ in 0..<3 { try await rounds.next() }
        #expect(silent.all == [[part]])
        #expect(alive.count == 1)
        gate.signal()
        try await alive.element(2)
        try await rounds.next()
        try await alive.element(3)
        watching.cancel()
        delivering.cancel()
        await delivering.value
        try await loops.shutdownGracefully()
    }

    private static func arrival() throws -> Arrival {
        let facts = ArrivalFacts(
            transfer: TransferID(), itemNumber: 0, itemsInOffer: 1,
            item: OfferedItem(kind: .file, name: safe("a"), type: uniform("public.png"), size: 5), size: 5,
            digest: .of(.xxh3_128, []), peer: .sample(1), senderName: "a test", annotation: [:])
        return Arrival(
            number: ArrivalNumber(1), facts: facts, stored: StoredItem(name: safe("a"), path: "/nowhere/a"))
    }
}

/// A caller without calls.
private struct NoCalls: HandlerCalling {
    func call(_ call: DeliveryCall) async -> CallResult { .cutShort }
    func itemWillMove(_ number: ArrivalNumber) async {}
    func rests(_ handler: String) async {}
    func stop() async {}
}
