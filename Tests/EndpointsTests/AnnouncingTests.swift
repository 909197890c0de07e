import Contacts
import Discovery
import Executors
import Logging
import NIOPosix
import SecureTransport
import Settings
import Sharing
import Synchronization
import TestSupport
import Testing

@testable import Endpoints

@Suite("A receiver announces itself", .timeLimit(.minutes(1)))
struct AnnouncingTests {
    /// The announced services, by the names that the directory was given.
    private final class Records: ServiceDirectory {
        let published = Recorder<ServiceDescription>()
        let withdrawn = Recorder<String>()

        struct Record: Publication {
            let records: Records
            let name: String
            var instance: String { get async { name } }
            func withdraw() async { records.withdrawn.record(name) }
        }

        func publish(_ service: ServiceDescription) async throws -> any Publication {
            published.record(service)
            return Record(records: self, name: service.instance)
        }

        func browse(type: String) -> AsyncStream<BrowseEvent> { AsyncStream { $0.finish() } }
        func deny(_ interfaces: InterfacePatterns) {}
    }

    /// A receiver's facts, which a test changes.
    private final class Facts: VisibilityReading {
        struct State {
            var visibility = Visibility.contacts
            var contacts: Set<PeerID> = []
            var name = "kitchen"
            var waiting: [AsyncStream<Void>.Continuation] = []
        }

        private let state = Mutex(State())

        var visibility: Visibility { state.withLock { $0.visibility } }
        var contacts: Set<PeerID> { state.withLock { $0.contacts } }
        var name: String { state.withLock { $0.name } }
        func knows(_ peer: PeerID) -> Bool { contacts.contains(peer) }
        func shows(itselfTo peer: PeerID) -> Bool { knows(peer) }

        func change(_ body: (inout State) -> Void = { _ in }) {
            state.withLock { state in
                body(&state)
                for each in state.waiting { each.yield() }
            }
        }

        func wait(until wanted: @Sendable (Visibility) -> Bool) async {
            let (news, feed) = AsyncStream<Void>.makeStream()
            state.withLock { $0.waiting.append(feed) }
            if wanted(visibility) { return }
            for await _ in news where wanted(visibility) { return }
        }
    }

    private func host(
        _ facts: Facts, report: @escaping @Sendable (EndpointStatus) -> Void = { _ in }
    ) -> ReceivingHost {
        ReceivingHost(
            reception: Reception(
                inbox: MemoryInbox(), journal: MemoryJournal(), gate: ScriptedGate { _ in .contact },
                consent: ScriptedConsent(.accept), delivery: RecordingDelivery(.none), observe: { _ in }),
            visibility: facts, name: facts.name, threads: { _ in BlockingExecutor(threads: 1) }, report: report)
    }

    /// Runs the announcement of Waft's own endpoint beside `body`.
    private func announcing(
        _ live: LiveSettings = LiveSettings(Settings(hostName: "kitchen")),
        _ body: @Sendable (Records, Facts, LiveSettings) async throws -> Void
    ) async throws -> Records {
        let (records, facts) = (Records(), Facts())
        let host = host(facts)
        let directory = SharedDirectory(live) { _ in records }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                await directory.announce(
                    {
                        ServiceDescription(type: "_waft._tcp", instance: RandomInstance.name(), port: 9_238)
                    }, for: host
                ) { _ in }
            }
            try await body(records, facts, live)
            group.cancelAll()
        }
        return records
    }

    /// A directory whose responder never finishes the probe of a name.
    private struct Probing: ServiceDirectory {
        func publish(_ service: ServiceDescription) async throws -> any Publication {
            while true { try await Task.sleep(for: .seconds(86_400)) }
        }

        func browse(type: String) -> AsyncStream<BrowseEvent> { AsyncStream { $0.finish() } }
        func deny(_ interfaces: InterfacePatterns) {}
    }

    @Test("and can be reached by address while the name is still being probed")
    func reachedBefore() async throws {
        var settings = Settings(hostName: "kitchen")
        settings.port = 0
        let live = LiveSettings(settings)
        let endpoint = WaftEndpoint(
            EndpointParts(
                settings: live, identity: try .make(), directory: SharedDirectory(live) { _ in Probing() },
                contacts: nil,
                blocking: BlockingExecutor(threads: 2), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        )
        let states = Recorder<EndpointStatus>()
        let host = host(Facts()) { states.record($0) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await endpoint.listen(host) }
            let state = try await states.first { $0.isReady }
            let other = WaftEndpoint(
                EndpointParts(
                    settings: live, identity: try .make(), contacts: nil, blocking: BlockingExecutor(threads: 2),
                    logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
            let target = try #require(other.target(host: "127.0.0.1", port: UInt16(state.port)))
            guard case .expected = await other.probe(target, within: .seconds(30)) else {
                Issue.record("nobody answers")
                return
            }
            group.cancelAll()
        }
    }

    @Test("anew under another name when its visibility, its name or its contacts change, and else never")
    func renewed() async throws {
        let records = try await announcing { records, facts, _ in
            try await records.published.element(1)
            facts.change { $0.visibility = .everyone }
            try await records.published.element(2)
            // Other settings have changed.
            facts.change()
            facts.change { $0.name = "larder" }
            try await records.published.element(3)
            facts.change { $0.contacts = [.sample(1)] }
            try await records.published.element(4)
        }
        let names = records.published.all.map(\.instance)
        #expect(names.count == 4 && Set(names).count == 4)
        #expect(Set(records.withdrawn.all) == Set(names), "each goes in the end")
    }

    @Test("under its old name until it has a new one")
    func overlap() async throws {
        _ = try await announcing { records, facts, _ in
            let first = try await records.published.element(1).instance
            facts.change { $0.visibility = .everyone }
            try await records.published.element(2)
            #expect(try await records.withdrawn.first() == first)
        }
    }

    @Test("only while discovery is on")
    func off() async throws {
        _ = try await announcing { records, facts, live in
            let first = try await records.published.element(1).instance
            var settings = live.current
            settings.discovery = false
            live.use(settings)
            facts.change()
            #expect(try await records.withdrawn.first() == first)
            settings.discovery = true
            live.use(settings)
            facts.change()
            #expect(try await records.published.element(2).instance != first)
        }
    }
}
