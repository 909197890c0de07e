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
    let asked = Recorder<String>()

    init(isPlain: Bool = false, _ answer: @escaping @Sendable (String) -> (Int, String)) {
        (self.isPlain, self.answer) = (isPlain, answer)
    }

    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private static let endpoint = {
        guard let identity = try? Identity.make() else { preconditionFailure("no key can be made") }
        return LocalSendEndpoint(
            EndpointParts(
                settings: LiveSettings(Settings(hostName: "study")), identity: identity, contacts: nil,
                blocking: BlockingExecutor(threads: 4), logger: logger))
    }()

    func send(
        _ sources: [MemorySource], _ options: SendOptions = SendOptions(),
        observe: @escaping @Sendable (SendEvent) -> Void = { _ in }
    ) async throws -> SendReport {
        try await run { port in
            let target = PeerTarget(.localsend, addresses: [DialAddress(host: "127.0.0.1", port: port)])
            return try await Self.endpoint.send(.test(sources, to: target, options: options, observe: observe))
        }
    }

    private func run<Result: Sendable>(_ body: @Sendable (Int) async throws -> Result) async throws -> Result {
        isPlain ? try await runPlain(body) : try await runSecure(body)
    }

    private func runSecure<Result: Sendable>(_ body: @Sendable (Int) async throws -> Result) async throws -> Result {
        let listener = try await SecureListener.bind(
            .init(host: "127.0.0.1", identity: try .make(kind: .rsa2048), profile: .localsend), group: .singleton,
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
            let (status, text) = answer(exchange.head.uri)
            try await exchange.finish(status, ByteBuffer(string: text))
        }
    }
}
