import AirDropDialect
import Discovery
import Executors
import Glibc
import HTTPChannel
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

/// A receiver of AirDrop's that answers as a test says, over TLS on loopback.
struct StrictReceiver: Sendable {
    /// Whether its connections end with a reset.
    var resets = false
    let answer: @Sendable (HTTPExchange) async throws -> Void
    /// The requested paths; for contents with their type.
    let asked = Recorder<String>()
    /// One for each answer.
    let answered = Recorder<Void>()

    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    static func endpoint(with directory: KnownServices?) -> AirDropEndpoint {
        guard let identity = try? Identity.make() else { preconditionFailure("no key can be made") }
        var settings = Settings(hostName: "study")
        settings.discovery = directory != nil
        let live = LiveSettings(settings)
        return AirDropEndpoint(
            EndpointParts(
                settings: live, identity: identity,
                directory: directory.map { directory in SharedDirectory(live) { _ in directory } }, contacts: nil,
                blocking: BlockingExecutor(threads: 2), logger: logger))
    }

    init(resets: Bool = false, _ answer: @escaping @Sendable (HTTPExchange) async throws -> Void) {
        (self.resets, self.answer) = (resets, answer)
    }

    /// Runs it for as long as `body` takes, which gets the port.
    func run<Result: Sendable>(_ body: @Sendable (Int) async throws -> Result) async throws -> Result {
        let listener = try await SecureListener.bind(
            .init(host: "127.0.0.1", identity: try .make(kind: .rsa2048), profile: .airdrop), group: .singleton,
            logger: Self.logger)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await listener.run { channel, _ in
                    if resets, let socket = channel as? any SocketOptionProvider {
                        socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).whenFailure { error in
                            Issue.record(error)
                        }
                    }
                    return try HTTPServer.configure(channel)
                } onConnection: { connection in
                    await HTTPServer.serve(
                        connection.output, idle: .seconds(60), silence: .seconds(60), interim: .seconds(60),
                        lingering: .milliseconds(100)
                    ) { exchange in
                        let type = exchange.head.headers.first(name: "content-type") ?? ""
                        let path = exchange.head.uri
                        asked.record(path == "/Upload" ? "\(path) \(type)" : path)
                        try await answer(exchange)
                        answered.record(())
                    }
                }
            }
            defer { group.cancelAll() }
            return try await body(listener.port)
        }
    }

    /// Runs it, and sends it a file.
    func send(flags: AirDropFlags = .own) async throws -> SendReport {
        try await run { port in
            var target = PeerTarget(
                .airdrop, addresses: [DialAddress(host: "127.0.0.1", port: port)],
                announcement: .init(instance: "0123456789ab", facts: AirDropDialect.txt(flags)))
            target.name = "Mac"
            let sources = [MemorySource.file("a", [1, 2, 3])]
            return try await Self.endpoint(with: nil).send(.test(sources, to: target))
        }
    }
}

extension HTTPExchange {
    /// Reads what came, and answers.
    func finish(_ status: Int, _ body: ByteBuffer = ByteBuffer()) async throws {
        while try await nextBytes() != nil {}
        try await respond(HTTPResponseStatus(statusCode: status), contentType: nil, body: body)
    }
}

/// A directory in which a test puts services.
struct KnownServices: ServiceDirectory {
    var type = AirDropDialect.serviceType
    private let events = AsyncStream<BrowseEvent>.makeStream()

    func publish(_ service: ServiceDescription) async throws -> any Publication { throw CancellationError() }

    func deny(_ interfaces: InterfacePatterns) {}

    func browse(type: String) -> AsyncStream<BrowseEvent> {
        type == self.type ? events.stream : AsyncStream { $0.finish() }
    }

    func show(_ instance: String, at port: Int) throws {
        let loopback = NetworkInterface(index: 1, name: "lo", isLoopback: true)
        let address = try #require(
            ServiceAddress(
                bytes: [127, 0, 0, 1], host: "127.0.0.1", interface: loopback, port: UInt16(clamping: port)))
        let service = DiscoveredService(
            instance: instance, hostName: "mac.local", addresses: [address], txt: ["flags": "139"], isLocal: true)
        events.continuation.yield(.updated(service))
    }
}
