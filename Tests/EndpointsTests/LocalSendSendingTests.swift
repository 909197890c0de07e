import Contacts
import Executors
import HTTPChannel
import LocalSendDialect
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import SecureTransport
import Settings
import Sharing
import TestSupport
import Testing

@testable import Endpoints

@Suite("A device of LocalSend's", .timeLimit(.minutes(1)))
struct LocalSendSendingTests {
    @Test("gets files, and the report says that it has them")
    func files() async throws {
        let device = LocalSendReceiver {
            $0.hasPrefix("/api/localsend/v2/prepare-upload") ? (200, Self.accepting) : (200, "")
        }
        let events = Recorder<String>()
        let report = try await device.send([.file("a", [1, 2, 3]), .file("b", [])]) { events.record(Self.word($0)) }
        #expect(report.items.count == 2)
        for item in report.items {
            guard case .acknowledged(let receipt, _) = item else {
                Issue.record("\(item)")
                continue
            }
            #expect(receipt.isStored)
        }
        #expect(report.movedBytes == 3)
        #expect(events.all.filter { $0 != "progressed" } == ["connected", "offered", "answered", "settled"])
        #expect(device.asked.all.count { $0.hasPrefix("/api/localsend/v2/upload?sessionId=s&fileId=f") } == 2)
    }

    @Test("that wants a PIN, or another one, is told about with the next step")
    func pin() async throws {
        let device = LocalSendReceiver {
            $0.hasSuffix("?pin=12")
                ? (200, Self.accepting)
                : $0.contains("prepare-upload") ? (401, #"{"message":"Invalid PIN"}"#) : (200, "")
        }
        var options = SendOptions()
        let missing = await #expect(throws: SendError.self) { _ = try await device.send([.file("a", [1])]) }
        #expect(missing?.description.contains("give it with --pin") == true)
        options.pin = "1"
        let mistaken = options
        let wrong = await #expect(throws: SendError.self) {
            _ = try await device.send([.file("a", [1])], mistaken)
        }
        #expect(wrong?.description.contains("refused the PIN") == true)
        guard case .refused(.notAccepted)? = wrong?.code else {
            Issue.record("\(String(describing: wrong))")
            return
        }
        options.pin = "12"
        let report = try await device.send([.file("a", [1])], options)
        #expect(report.items.count == 1)
    }

    @Test("that is busy is asked again, and one that stays busy gives no answer")
    func busy() async throws {
        let asked = Recorder<Void>()
        let device = LocalSendReceiver { path in
            guard path.contains("prepare-upload") else { return (200, "") }
            asked.record(())
            return asked.count == 1 ? (409, #"{"message":"Blocked by another session"}"#) : (200, Self.accepting)
        }
        let events = Recorder<String>()
        let report = try await device.send([.file("a", [1])]) { events.record(Self.word($0)) }
        #expect(events.all.contains("busy: Blocked by another session"))
        #expect(report.movedBytes == 1)
        let full = LocalSendReceiver { _ in (409, "") }
        var options = SendOptions()
        options.retryFor = .milliseconds(50)
        let short = options
        let failure = await #expect(throws: SendError.self) { _ = try await full.send([.file("a", [1])], short) }
        guard case .noAnswer? = failure?.code else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test("that does not encrypt gets nothing, unless the user wants that")
    func plain() async throws {
        let device = LocalSendReceiver(isPlain: true) {
            $0.contains("prepare-upload") ? (200, Self.accepting) : (200, "")
        }
        var options = SendOptions()
        let refused = await #expect(throws: SendError.self) { _ = try await device.send([.file("a", [1])]) }
        #expect(refused?.description.contains("--plain") == true)
        #expect(device.asked.all.isEmpty)
        options.plain = true
        let events = Recorder<String>()
        let report = try await device.send([.file("a", [1])], options) { events.record(Self.word($0)) }
        #expect(report.peer.unprovenBy == .localsend)
        #expect(events.all.contains { $0.contains("without encryption") })
    }

    @Test("that does not encrypt is one peer at all its addresses, by its own answer at each")
    func plainAddresses() async throws {
        let info = #"{"alias":"phone","version":"2.1","fingerprint":"random"}"#
        let device = LocalSendReceiver(isPlain: true) { path in
            (200, path.contains("/info") ? info : path.contains("prepare-upload") ? Self.accepting : "")
        }
        let other = LocalSendReceiver(isPlain: true) { _ in (200, info.replacing("random", with: "another")) }
        let first = try await device.meet(announcing: "random")
        let second = try await device.meet(announcing: "random")
        #expect(first.id == second.id && first.id.unprovenBy == .localsend)
        // An announcement alone makes nobody that device.
        let stranger = try await other.meet(announcing: "random")
        #expect(stranger.id != first.id)
        // The same text behind a key is another peer.
        let secure = try await LocalSendReceiver { _ in (200, info) }.meet()
        #expect(secure.id != first.id && secure.id.unprovenBy == nil)
    }

    @Test("that is a contact is noted where it takes connections, if it has proved its key")
    func notedAddress() throws {
        let folder = TemporaryFolder()
        let book = ContactBook(path: folder / "contacts.json")
        let key = try Identity.make(kind: .rsa2048).peerID
        try book.allow(key, named: ContactName("phone"), Verification(.keyID, at: .now))
        let endpoint = LocalSendReceiver.endpoint(book)
        var device = LocalSendDevice(alias: "phone", deviceModel: "", deviceType: "mobile", fingerprint: "AA")
        (device.port, device.scheme) = (53_317, .https)
        let origin = OfferOrigin(host: "192.0.2.7")
        endpoint.note(device, visitor: Visitor(.unproven(.localsend), origin: origin))
        #expect(try book.snapshot()[key]?.addresses == [])
        endpoint.note(device, visitor: Visitor(key, origin: origin))
        #expect(try book.snapshot()[key]?.addresses.map(\.host) == ["192.0.2.7"])
        #expect(try book.snapshot()[key]?.addresses.map(\.port) == [53_317])
    }

    @Test("that says no declines every item, and --wait opened is refused before")
    func declined() async throws {
        let device = LocalSendReceiver { _ in (403, #"{"message":"Rejected"}"#) }
        let report = try await device.send([.file("a", [1]), .file("b", [1])])
        for item in report.items {
            guard case .notAccepted(let verdict) = item else {
                Issue.record("\(item)")
                continue
            }
            #expect(verdict == ItemVerdict(.declined, reason: "Rejected"))
        }
        var options = SendOptions()
        options.wait = .opened
        let opened = options
        let failure = await #expect(throws: SendError.self) { _ = try await device.send([.file("a", [1])], opened) }
        #expect(failure?.description.contains("does not tell") == true)
    }

    @Test("whose user cancels ends the sending, at the port that the question names")
    func cancelledThere() async throws {
        let device = LocalSendReceiver(
            { $0.contains("prepare-upload") ? (200, Self.accepting) : (200, "") },
            meanwhile: { path, port in
                if path.contains("/upload?") { try await LocalSendReceiver.cancel("s", at: port) }
            }
        )
        let contents = [UInt8](repeating: 7, count: 32 << 20)
        let report = try await device.send([.file("a", contents)])
        guard case .lost(let fault)? = report.items.first else {
            Issue.record("\(report.items)")
            return
        }
        #expect(fault.code == .cancelled && fault.message == "the other side cancelled")
        #expect(!device.asked.all.contains { $0.contains("/cancel") })
    }

    @Test("is not ended by another session's number, nor by another device with the right one")
    func cancelledByOthers() async throws {
        let device = LocalSendReceiver(
            { $0.contains("prepare-upload") ? (200, Self.accepting) : (200, "") },
            meanwhile: { path, port in
                guard path.contains("/upload?") else { return }
                try await LocalSendReceiver.cancel("other", at: port)
                try await LocalSendReceiver.cancel("s", at: port, as: LocalSendReceiver.sender)
            })
        let report = try await device.send([.file("a", [1])])
        guard case .acknowledged? = report.items.first else {
            Issue.record("\(report.items)")
            return
        }
    }

    private static let accepting = #"{"sessionId":"s","files":{"f0":"t","f1":"u"}}"#

    private static func word(_ event: SendEvent) -> String {
        switch event {
        case .connected: "connected"
        case .remarked(let remark): remark
        case .offered: "offered"
        case .answered: "answered"
        case .busy(let reason, _): "busy: \(reason)"
        case .progressed: "progressed"
        case .resuming: "resuming"
        case .settled: "settled"
        case .handling: "handling"
        }
    }
}

/// A device that answers each path as a test says, on loopback.
private struct LocalSendReceiver: Sendable {
    /// Whether it speaks HTTP without TLS.
    var isPlain = false
    let answer: @Sendable (String) -> (Int, String)
    /// Called before each answer with the path, and with the port of the sender.
    let meanwhile: @Sendable (String, Int) async throws -> Void
    let asked = Recorder<String>()
    private let senders = Recorder<Int>()

    init(
        isPlain: Bool = false, _ answer: @escaping @Sendable (String) -> (Int, String),
        meanwhile: @escaping @Sendable (String, Int) async throws -> Void = { _, _ in }
    ) {
        (self.isPlain, self.answer, self.meanwhile) = (isPlain, answer, meanwhile)
    }

    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    static let sender = endpoint()
    /// Has the key of the device.
    private static let receiver = endpoint()

    static func endpoint(_ contacts: ContactBook? = nil) -> LocalSendEndpoint {
        guard let identity = try? Identity.make() else { preconditionFailure("no key can be made") }
        return LocalSendEndpoint(
            EndpointParts(
                settings: LiveSettings(Settings(hostName: "study")), identity: identity, contacts: contacts,
                blocking: BlockingExecutor(threads: 4), logger: logger))
    }

    /// Tells the port of a sender that a session has ended.
    /// - Parameter endpoint: the key with which it is told; nil for the device's.
    static func cancel(_ session: String, at port: Int, as endpoint: LocalSendEndpoint? = nil) async throws {
        let target = PeerTarget(.localsend, addresses: [DialAddress(host: "127.0.0.1", port: port)])
        let connection = try await (endpoint ?? receiver).open(target, within: .seconds(60))
        try await HTTPClient.run(connection.http) { http in
            try await LocalSendClient(http).cancel(session, timeout: .seconds(60))
        }
    }

    func send(
        _ sources: [MemorySource], _ options: SendOptions = SendOptions(),
        observe: @escaping @Sendable (SendEvent) -> Void = { _ in }
    ) async throws -> SendReport {
        try await run { port in
            let target = PeerTarget(.localsend, addresses: [DialAddress(host: "127.0.0.1", port: port)])
            return try await Self.sender.send(.test(sources, to: target, options: options, observe: observe))
        }
    }

    /// Asks the device, which has announced itself.
    /// - Parameter fingerprint: announced, without encryption; nil for a device that did not announce itself.
    func meet(announcing fingerprint: String? = nil) async throws -> FoundPeer {
        try await run { port in
            var target = PeerTarget(.localsend, addresses: [DialAddress(host: "127.0.0.1", port: port)])
            if let fingerprint {
                target.announcement = .init(
                    instance: fingerprint, facts: ["fingerprint": fingerprint, "protocol": "http"])
            }
            return try await Self.sender.meet(target, within: .seconds(60))
        }
    }

    private func run<Result: Sendable>(_ body: @Sendable (Int) async throws -> Result) async throws -> Result {
        isPlain ? try await runPlain(body) : try await runSecure(body)
    }

    private func runSecure<Result: Sendable>(_ body: @Sendable (Int) async throws -> Result) async throws -> Result {
        let listener = try await SecureListener.bind(
            .init(host: "127.0.0.1", identity: try Self.receiver.side.loadIdentity(), profile: .localsend),
            group: .singleton,
            logger: Self.logger)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await listener.run { channel, _ in
                    try HTTPServer.configure(channel)
                } onConnection: { connection in
                    await serve(connection.output)
                }
            }
            defer { group.cancelAll() }
            return try await body(listener.port)
        }
    }

    private func runPlain<Result: Sendable>(_ body: @Sendable (Int) async throws -> Result) async throws -> Result {
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture { try HTTPServer.configure(channel) }
            }
        let port = try #require(listener.channel.localAddress?.port)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await listener.executeThenClose { connections in
                    try await withThrowingDiscardingTaskGroup { tasks in
                        for try await connection in connections { tasks.addTask { await serve(connection) } }
                    }
                }
            }
            defer { group.cancelAll() }
            return try await body(port)
        }
    }

    private func serve(_ connection: HTTPServer.Connection) async {
        await HTTPServer.serve(
            connection, idle: .seconds(60), silence: .seconds(60), interim: .seconds(60), lingering: .milliseconds(100)
        ) { exchange in
            asked.record(exchange.head.uri)
            if exchange.head.uri.contains("prepare-upload") {
                let question = String(buffer: try await exchange.body(upTo: 1 << 20))
                let port = question.firstMatch(of: /"port":(\d+)/).flatMap { Int($0.1) }
                senders.record(port ?? 0)
            }
            try await meanwhile(exchange.head.uri, senders.all.last ?? 0)
            let (status, text) = answer(exchange.head.uri)
            try await exchange.finish(status, ByteBuffer(string: text))
        }
    }
}
