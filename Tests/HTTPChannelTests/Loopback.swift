import HTTPChannel
import NIOCore
import NIOHTTP1
import NIOPosix
import TestSupport
import Testing

/// Timeouts of a server under test. They are long by default, so that a test reaches a deadline only if it sets one.
struct Times: Sendable {
    var idle: Duration = .seconds(3_600)
    var silence: Duration = .seconds(3_600)
    var interim: Duration = .seconds(3_600)
    var lingering: Duration = .seconds(2)
    var watchInterval: TimeAmount = .milliseconds(10)
}

/// An HTTP server on a port of loopback, without TLS.
struct LoopbackServer: Sendable {
    let port: Int
    /// One record for each connection that has ended on the server's side.
    let served = Recorder<Void>()

    /// Runs a server for as long as `body` takes.
    @discardableResult
    static func run<Result: Sendable>(
        _ times: Times = Times(),
        respond: @escaping @Sendable (HTTPExchange) async throws -> Void,
        _ body: @Sendable (LoopbackServer) async throws -> Result
    ) async throws -> Result {
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.backlog, value: 1_024)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try HTTPServer.configure(channel, watchInterval: times.watchInterval)
                }
            }
        let server = LoopbackServer(port: try #require(listener.channel.localAddress?.port))
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await listener.executeThenClose { connections in
                    try await withThrowingDiscardingTaskGroup { tasks in
                        for try await connection in connections {
                            tasks.addTask {
                                await HTTPServer.serve(
                                    connection, idle: times.idle, silence: times.silence, interim: times.interim,
                                    lingering: times.lingering, respond: respond)
                                server.served.record(())
                            }
                        }
                    }
                }
            }
            defer { group.cancelAll() }
            return try await body(server)
        }
    }

    /// Calls `body` with Waft's own client.
    @discardableResult
    func client<Result: Sendable>(
        answerLimit: Int = 1 << 20,
        _ body: (HTTPClient) async throws -> sending Result
    ) async throws -> Result {
        let connection = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try HTTPClient.configure(
                        channel, answerLimit: answerLimit, watchInterval: .milliseconds(10))
                }
            }
        return try await HTTPClient.run(connection, body)
    }

    /// Calls `body` with a bare TCP connection.
    @discardableResult
    func bare<Result: Sendable>(_ body: (BareConnection) async throws -> Result) async throws -> Result {
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            try await body(BareConnection(channel.channel, inbound.makeAsyncIterator(), outbound))
        }
    }
}

/// A raw TCP connection that can send anything, valid or not. Used by one task.
final class BareConnection {
    let channel: any Channel
    private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    private var received = ""

    init(
        _ channel: any Channel,
        _ inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator,
        _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) {
        self.channel = channel
        self.inbound = inbound
        self.outbound = outbound
    }

    func send(_ text: String) async throws {
        try await outbound.write(ByteBuffer(string: text))
    }

    func send(_ bytes: [UInt8]) async throws {
        try await outbound.write(ByteBuffer(bytes: bytes))
    }

    /// Reads up to the end of the first `mark`, and returns that text.
    func receive(through mark: String) async throws -> String {
        while true {
            if let range = received.firstRange(of: mark) {
                defer { received = String(received[range.upperBound...]) }
                return String(received[..<range.upperBound])
            }
            guard let bytes = try await inbound.next() else {
                Issue.record("the connection ended before “\(mark)” came; there was “\(received)”")
                throw ChannelError.eof
            }
            received += String(buffer: bytes)
        }
    }

    /// Reads everything until the other side closes, in an orderly way or not.
    func receiveToEnd() async -> String {
        while let bytes = try? await inbound.next() { received += String(buffer: bytes) }
        defer { received = "" }
        return received
    }

    /// Sends until the other side accepts no more.
    /// - Returns: the number of bytes that the system has taken.
    func flood(_ piece: String, atMost limit: Int) async -> Int {
        var sent = 0
        let piece = ByteBuffer(string: piece)
        while sent < limit {
            // Not by the writer, which takes any number of pieces while the event loop has no turn.
            do { try await channel.writeAndFlush(piece).get() } catch { break }
            sent += piece.readableBytes
        }
        return sent
    }
}

/// Answers every request with `text`, after reading its body.
func echo(_ exchange: HTTPExchange) async throws {
    let body = try await exchange.body(upTo: 1 << 20)
    try await exchange.respond(.ok, contentType: "text/plain", body: ByteBuffer(string: exchange.head.uri + " ") + body)
}

func + (left: ByteBuffer, right: ByteBuffer) -> ByteBuffer {
    var (sum, right) = (left, right)
    sum.writeBuffer(&right)
    return sum
}
