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
import Synchronization
import TestSupport
import WaftDialect

@testable import Endpoints

/// A receiver that answers as a test says, over TLS on loopback, and a sender that speaks with it.
struct ScriptedReceiver: Sendable {
    /// Answers a request, given the last part of its path and its number among requests with that part, from 1.
    typealias Script = @Sendable (_ resource: String, _ number: Int, HTTPExchange) async throws -> Void

    let port: Int
    let endpoint: WaftEndpoint
    /// The last parts of the requested paths.
    let asked = Recorder<String>()

    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Runs a receiver for as long as `body` takes.
    /// - Parameters:
    ///   - closing: number of connections, from the first, that are closed right after the handshake.
    ///   - services: the services that its endpoint finds; nil for none.
    ///   - script: answers the requests. A body that it has not read is read after it.
    static func run(
        closing: Int = 0, finding services: KnownServices? = nil, _ script: @escaping Script,
        _ body: @Sendable (ScriptedReceiver) async throws -> Void
    ) async throws {
        let listener = try await SecureListener.bind(
            .init(host: "127.0.0.1", identity: try .make(), profile: WaftEndpoint.profile), group: .singleton,
            logger: logger)
        let settings = LiveSettings(Settings(hostName: "study"))
        var endpoint = WaftEndpoint(
            EndpointParts(
                settings: settings, identity: try .make(),
                directory: services.map { services in SharedDirectory(settings) { _ in services } }, contacts: nil,
                blocking: BlockingExecutor(threads: 8), logger: logger))
        endpoint.repetition = .milliseconds(5)
        endpoint.trialPause = .milliseconds(5)
        endpoint.watchInterval = .milliseconds(5)
        endpoint.limits.drainDeadline = .milliseconds(50)
        let receiver = ScriptedReceiver(port: listener.port, endpoint: endpoint)
        let counts = Counts()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await listener.run { channel, _ in
                    try HTTPServer.configure(channel)
                } onConnection: { connection in
                    if counts.next("connection") <= closing { return connection.output.close() }
                    await HTTPServer.serve(
                        connection.output, idle: .seconds(60), silence: .seconds(60), interim: .milliseconds(5),
                        lingering: .milliseconds(100)
                    ) { exchange in
                        let path = exchange.head.uri.split(separator: "?")[0]
                        let resource = String(path.split(separator: "/").last ?? "")
                        receiver.asked.record(resource)
                        try await script(resource, counts.next(resource), exchange)
                    }
                }
            }
            defer { group.cancelAll() }
            try await body(receiver)
        }
    }

    /// Sends `sources`, and records the events.
    func send(
        _ options: SendOptions, _ sources: [MemorySource] = [.text("hello")], _ events: Recorder<SendEvent> = Recorder()
    ) async throws(SendError) -> SendReport {
        try await endpoint.send(.test(sources, to: target, options: options) { events.record($0) })
    }

    var target: PeerTarget { PeerTarget(.waft, addresses: [DialAddress(host: "127.0.0.1", port: port)]) }
}

/// Number of events by name.
private final class Counts: Sendable {
    private let counts = Mutex<[String: Int]>([:])

    /// Counts one more; returns the new number.
    func next(_ name: String) -> Int {
        counts.withLock { counts in
            counts[name, default: 0] += 1
            return counts[name] ?? 0
        }
    }
}

extension ScriptedReceiver {
    /// Sends `sources`; returns the failure, or nil if there was a report.
    func failure(_ options: SendOptions, _ sources: [MemorySource] = [.text("hello")]) async -> SendError? {
        do throws(SendError) {
            _ = try await send(options, sources)
            return nil
        } catch {
            return error
        }
    }
}

extension SendError {
    /// Whether the command would exit with 15.
    var isNoAnswer: Bool { if case .noAnswer = code { true } else { false } }
}

extension HTTPExchange {
    func answer(_ text: String, _ status: HTTPResponseStatus = .ok) async throws {
        while try await nextBytes() != nil {}
        try await respond(status, body: ByteBuffer(string: text))
    }

    /// Sends interim answers until the client gives up.
    func stall() async {
        await whileClientWaits { try? await Task.sleep(for: .seconds(3_600)) }
    }

    func answerCard() async throws { try await answer(#"{"v":1,"name":"kitchen"}"#) }

    /// - Parameter answers: the answers to single items, as lines of JSON.
    func answerOffer(_ answer: String, reason: String = "", answers: String = "") async throws {
        try await self.answer(
            #"{"v":1,"digest":"xxh3-128","default":"\#(answer)","reason":"\#(reason)"}\#n\#(answers)"#)
    }

    /// - Parameter items: the items of the receipt, as JSON.
    func answerReceipt(_ items: String...) async throws {
        let transfer = head.uri.split(separator: "/")[3]
        let text = #"{"v":1,"transfer":"\#(transfer)"}\#n\#(items.joined(separator: "\n"))"#
        guard asks(for: "waft-contents/1") else { return try await answer(text) }
        try await takeContents { stream in
            var frames = ByteBuffer()
            // Data with the text, and the end.
            frames.writeMultipleIntegers(UInt32(0x0600_0000), UInt32(text.utf8.count))
            frames.writeString(text)
            frames.writeMultipleIntegers(UInt32(0x0A00_0000), UInt32(0))
            _ = try? stream.send(&frames, within: PeerTimeout(.seconds(60)), isListening: false)
        }
    }

    /// Leaves HTTP, reads contents to their last frame, and calls `body` with the stream.
    func takeContents(_ body: @escaping @Sendable (SecureStream) -> Void) async throws {
        let stream = try await switchProtocols(to: "waft-contents/1")
        await BackgroundThread.run("waft-test") {
            var last: [UInt8] = []
            while last != [0x0A, 0, 0, 0, 0, 0, 0, 0],
                let bytes = try? stream.receive(within: PeerTimeout(.seconds(60)))
            {
                last = (last + bytes.readableBytesView).suffix(8)
            }
            body(stream)
            stream.close(lingering: .milliseconds(100))
        }
    }

    /// Leaves HTTP, and shows that it is alive until the sender gives up.
    /// - Parameter reading: whether the contents are read first.
    func stallContents(reading: Bool) async throws {
        let stall = { @Sendable (stream: SecureStream) in
            while true {
                var frame = ByteBuffer(bytes: [0x80, 0, 0, 0, 0, 0, 0, 0])
                do {
                    _ = try stream.send(&frame, within: PeerTimeout(.seconds(60)), isListening: false)
                } catch {
                    return
                }
                usleep(1_000)
            }
        }
        if reading { return try await takeContents(stall) }
        let stream = try await switchProtocols(to: "waft-contents/1")
        await BackgroundThread.run("waft-test") {
            stall(stream)
            stream.close(lingering: .zero)
        }
    }
}
