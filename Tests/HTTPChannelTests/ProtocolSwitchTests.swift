import Executors
import HTTPChannel
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import SecureTransport
import Sharing
import TestSupport
import Testing

/// A server and its clients over TLS, without which no connection can leave HTTP.
private struct SecureLoopback: Sendable {
    let port: Int
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    private static let profile = TLSProfile(applicationProtocols: ["test"])
    private static let identity = Result { try Identity.make() }

    static func run(
        respond: @escaping @Sendable (HTTPExchange) async throws -> Void,
        _ body: @Sendable (SecureLoopback) async throws -> Void
    ) async throws {
        let listener = try await SecureListener.bind(
            .init(host: "127.0.0.1", identity: try identity.get(), profile: profile), group: .singleton, logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await listener.run { channel, _ in
                    try HTTPServer.configure(channel)
                } onConnection: { connection in
                    await HTTPServer.serve(
                        connection.output, idle: .seconds(3_600), silence: .seconds(3_600), respond: respond)
                }
            }
            defer { group.cancelAll() }
            try await body(SecureLoopback(port: listener.port))
        }
    }

    private func dial<Output: Sendable>(
        _ configure: @escaping @Sendable (any Channel, PeerID) throws -> Output
    ) async throws -> SecureConnection<Output> {
        try await SecureDialer(
            identity: try Self.identity.get(), profile: Self.profile, group: .singleton, logger: Self.logger
        ).dial([DialAddress(host: "127.0.0.1", port: port)], configurePipeline: configure)
    }

    /// Calls `body` with Waft's own client.
    func client<Result: Sendable>(_ body: (HTTPClient) async throws -> sending Result) async throws -> Result {
        let connection = try await dial { channel, _ in try HTTPClient.configure(channel, answerLimit: 1 << 20) }
        return try await HTTPClient.run(connection.output, body)
    }

    /// Changes to the protocol `echo`, sends so many bytes and closes without another word.
    func sendAndLeave(_ count: Int) async throws {
        try await client { client -> Void in
            let answer = try await client.switchProtocols("/echo", to: "echo", timeout: .seconds(60))
            guard case .switched(let stream) = answer else {
                Issue.record("it was refused")
                return
            }
            await BackgroundThread.run("waft-test") {
                var bytes = ByteBuffer(repeating: 7, count: count)
                _ = try? stream.send(&bytes, within: PeerTimeout(.seconds(60)), isListening: false)
                stream.close(lingering: .zero)
            }
        }
    }

    /// Calls `body` with a connection that can send anything.
    func bare(_ body: (BareConnection) async throws -> Void) async throws {
        let connection = try await dial { channel, _ in
            try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
        }
        try await connection.output.executeThenClose { inbound, outbound in
            try await body(BareConnection(connection.channel, inbound.makeAsyncIterator(), outbound))
        }
    }
}

@Suite("Another protocol on the same connection", .timeLimit(.minutes(3)))
struct ProtocolSwitchTests {
    /// Echoes everything that comes by the protocol `echo`, until the other side ends.
    @Sendable private static func respond(_ exchange: HTTPExchange) async throws {
        guard exchange.asks(for: "echo") else {
            return try await exchange.respond(.ok, body: ByteBuffer(string: exchange.head.uri))
        }
        guard exchange.head.uri == "/echo" else {
            return try await exchange.respondAndClose(.forbidden, text: "not here")
        }
        let stream = try await exchange.switchProtocols(to: "echo")
        await BackgroundThread.run("waft-test") {
            while let bytes = try? stream.receive(within: PeerTimeout(.seconds(3_600))) {
                var copy = ByteBuffer(bytes: bytes.readableBytesView)
                _ = try? stream.send(&copy, within: PeerTimeout(.seconds(3_600)), isListening: false)
            }
            stream.close(lingering: .seconds(1))
        }
    }

    private static func switchTo(_ path: String, _ client: HTTPClient) async throws -> HTTPClient.Switching {
        try await client.switchProtocols(path, to: "echo", timeout: .seconds(60))
    }

    private static let ask = "POST /echo HTTP/1.1\r\nconnection: upgrade\r\nupgrade: echo\r\ncontent-length: 0\r\n\r\n"

    @Test("begins when the server agrees, after requests as usual, and the client of HTTP is over")
    func agreed() async throws {
        try await SecureLoopback.run(respond: Self.respond) { loopback in
            try await loopback.client { client in
                #expect(try await client.exchange(.GET, "/a", timeout: .seconds(60)).status == .ok)
                guard case .switched(let stream) = try await Self.switchTo("/echo", client) else {
                    Issue.record("it was refused")
                    return
                }
                let text = await BackgroundThread.run("waft-test") {
                    var hello = ByteBuffer(string: "hello")
                    _ = try? stream.send(&hello, within: PeerTimeout(.seconds(60)), isListening: false)
                    let bytes = try? stream.receive(within: PeerTimeout(.seconds(60)))
                    stream.close(lingering: .seconds(60))
                    return bytes.map { String(buffer: $0) }
                }
                #expect(text == "hello")
                await #expect(throws: (any Error).self) {
                    _ = try await client.exchange(.GET, "/a", timeout: .seconds(60))
                }
            }
        }
    }

    @Test("is refused as any request is, and the connection ends")
    func refused() async throws {
        try await SecureLoopback.run(respond: Self.respond) { loopback in
            try await loopback.client { client in
                guard case .refused(let answer) = try await Self.switchTo("/no", client) else {
                    Issue.record("it was not refused")
                    return
                }
                #expect(answer.status == .forbidden && String(buffer: answer.body) == "not here\n")
            }
        }
    }

    @Test("nothing is lost of what a client sends with its request, however it is cut", arguments: [0, 1, 90, 300_000])
    func early(before: Int) async throws {
        let text = String(repeating: "0123456789", count: 40_000)
        try await SecureLoopback.run(respond: Self.respond) { loopback in
            try await loopback.bare { connection in
                let request = Self.ask + text.prefix(before)
                try await connection.send(request)
                try await connection.send(String(text.dropFirst(before)))
                let head = try await connection.receive(through: "\r\n\r\n")
                #expect(head == "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n")
                #expect(try await connection.receive(through: text) == text)
            }
        }
    }

    @Test("nothing is lost of what a server says right behind its 101")
    func behindAnswer() async throws {
        let text = String(repeating: "0123456789", count: 30_000)
        try await SecureLoopback.run { exchange in
            let stream = try await exchange.switchProtocols(to: "echo")
            await BackgroundThread.run("waft-test") {
                var bytes = ByteBuffer(string: text)
                _ = try? stream.send(&bytes, within: PeerTimeout(.seconds(60)), isListening: false)
                // The other side has left its channel by then.
                _ = try? stream.receive(within: PeerTimeout(.seconds(60)))
                stream.close(lingering: .seconds(60))
            }
        } _: { loopback in
            try await loopback.client { client in
                guard case .switched(let stream) = try await Self.switchTo("/echo", client) else {
                    Issue.record("it was refused")
                    return
                }
                let received = await BackgroundThread.run("waft-test") {
                    var received = ByteBuffer()
                    var word = ByteBuffer(string: "here")
                    _ = try? stream.send(&word, within: PeerTimeout(.seconds(60)), isListening: false)
                    while let bytes = try? stream.receive(within: PeerTimeout(.seconds(60))) {
                        received.writeImmutableBuffer(bytes)
                    }
                    stream.close(lingering: .seconds(60))
                    return String(buffer: received)
                }
                #expect(received == text)
            }
        }
    }

    @Test("nothing is lost of what a client sends right behind the 101, though the client has left by then")
    func left() async throws {
        let clients = 600
        let received = Recorder<Int>()
        try await SecureLoopback.run { exchange in
            var bytes = 0
            defer { received.record(bytes) }
            let stream = try await exchange.switchProtocols(to: "echo")
            bytes =
                await BackgroundThread.run("waft-test") {
                    var bytes = 0
                    while let some = try? stream.receive(within: PeerTimeout(.seconds(60))) {
                        bytes += some.readableBytes
                    }
                    stream.close(lingering: .zero)
                    return bytes
                } ?? 0
        } _: { loopback in
            // Some at once: a server's task that has no thread for a moment meets clients that have left.
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<clients {
                    if number >= 4 { try await group.next() }
                    group.addTask { try await loopback.sendAndLeave(50_000) }
                }
                try await group.waitForAll()
            }
            try await received.element(clients)
            #expect(received.all.count { $0 != 50_000 } == 0)
        }
    }

    @Test("a request for one that the resource does not have is answered, and no further request is read behind it")
    func ignored() async throws {
        try await SecureLoopback.run(respond: Self.respond) { loopback in
            try await loopback.bare { connection in
                try await connection.send(
                    "GET /a HTTP/1.1\r\nconnection: upgrade\r\nupgrade: other\r\n\r\nGET /b HTTP/1.1\r\n\r\n")
                let answer = await connection.receiveToEnd()
                #expect(answer.contains("connection: close") && answer.hasSuffix("/a"), "\(answer)")
            }
        }
    }

    @Test("a request for one has no body")
    func body() async throws {
        try await SecureLoopback.run(respond: Self.respond) { loopback in
            try await loopback.bare { connection in
                try await connection.send(Self.ask.replacing("content-length: 0", with: "content-length: 5") + "hello")
                #expect(await connection.receiveToEnd().hasPrefix("HTTP/1.1 413 "))
            }
        }
    }

    @Test("a 101 that nobody asked for, or for another one, is an answer like any other")
    func unasked() async throws {
        try await SecureLoopback.run { exchange in
            _ = try await exchange.switchProtocols(to: "other")
        } _: { loopback in
            try await loopback.client { client in
                guard case .refused(let answer) = try await Self.switchTo("/echo", client) else {
                    Issue.record("it was taken")
                    return
                }
                #expect(answer.status == .switchingProtocols)
            }
            try await loopback.client { client in
                let answer = try await client.exchange(.GET, "/a", timeout: .seconds(60))
                #expect(answer.status == .switchingProtocols)
            }
        }
    }

    @Test("breaking a connection off interrupts its stream")
    func brokenOff() async throws {
        let errors = Recorder<SecureStreamError?>()
        try await SecureLoopback.run { exchange in
            let breakOff = exchange.breakingOff
            let stream = try await exchange.switchProtocols(to: "echo")
            breakOff()
            await BackgroundThread.run("waft-test") {
                do throws(SecureStreamError) {
                    _ = try stream.receive(within: PeerTimeout(.seconds(3_600)))
                    errors.record(nil)
                } catch {
                    errors.record(error)
                }
            }
        } _: { loopback in
            try await loopback.client { client in
                // The connection may have ended before this side has left its channel.
                let switching = try? await Self.switchTo("/echo", client)
                let error = try await errors.first()
                #expect(error == .interrupted)
                withExtendedLifetime(switching) {}
            }
        }
    }
}
