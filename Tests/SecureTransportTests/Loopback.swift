import Foundation
import Glibc
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Sharing
import Testing

@testable import SecureTransport

typealias Bytes = NIOAsyncChannel<ByteBuffer, ByteBuffer>

/// The event loops that all tests on sockets share.
let sharedGroup = MultiThreadedEventLoopGroup(numberOfThreads: 2)

/// One event loop, for tests of the order of events.
let singleGroup = MultiThreadedEventLoopGroup(numberOfThreads: 1)

let silentLogger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

extension TransportLimits {
    /// For tests that are not about deadlines: on a busy machine none of them must pass.
    static let patient = {
        var limits = TransportLimits()
        limits.handshakeDeadline = .seconds(3600)
        limits.dialDeadline = .seconds(3600)
        limits.drainDeadline = .seconds(3600)
        return limits
    }()
}

/// Makes a channel's pipeline into plain streams of bytes.
@Sendable func bytesPipeline(_ channel: any Channel, _ peerID: PeerID) throws -> Bytes {
    try Bytes(wrappingChannelSynchronously: channel)
}

/// Answers everything with itself, until the peer ends or the task is cancelled.
@Sendable func echo(_ connection: SecureConnection<Bytes>) async {
    try? await connection.output.executeThenClose { inbound, outbound in
        for try await buffer in inbound { try await outbound.write(buffer) }
    }
}

/// Runs `body` beside a listener on loopback, and ends both.
@discardableResult
func withListener<Result: Sendable>(
    identity: Identity = Identities.bob,
    host: String? = "127.0.0.1",
    profile: TLSProfile = .waft,
    limits: TransportLimits = .patient,
    group: MultiThreadedEventLoopGroup = sharedGroup,
    onConnection: @escaping @Sendable (SecureConnection<Bytes>) async -> Void = echo,
    _ body: @Sendable (SecureListener) async throws -> Result
) async throws -> Result {
    var configuration = SecureListener.Configuration(host: host, identity: identity, profile: profile)
    configuration.limits = limits
    let listener = try await SecureListener.bind(configuration, group: group, logger: silentLogger)
    return try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
            try await listener.run(configurePipeline: bytesPipeline, onConnection: onConnection)
        }
        let result = try await body(listener)
        group.cancelAll()
        try await group.waitForAll()
        return result
    }
}

func dialer(
    _ identity: Identity = Identities.alice,
    profile: TLSProfile = .waft,
    limits: TransportLimits = .patient
) throws -> SecureDialer {
    try SecureDialer(identity: identity, profile: profile, limits: limits, group: sharedGroup, logger: silentLogger)
}

extension SecureDialer {
    func dial(port: Int, expecting: Set<PeerID>? = nil) async throws -> SecureConnection<Bytes> {
        try await dial(
            [DialAddress(host: "127.0.0.1", port: port)],
            expecting: expecting,
            configurePipeline: bytesPipeline
        )
    }
}

extension SecureConnection where Output == Bytes {
    /// Sends `bytes` and returns the answer: empty if the other side has refused the connection.
    func exchangeOrNothing(_ bytes: [UInt8]) async -> [UInt8] {
        (try? await exchange(bytes)) ?? []
    }

    /// Sends `bytes`, and returns the first as many bytes of the answer.
    func exchange(_ bytes: [UInt8]) async throws -> [UInt8] {
        try await output.executeThenClose { inbound, outbound in
            try await Self.exchange(bytes, inbound, outbound)
        }
    }

    static func exchange(
        _ bytes: [UInt8],
        _ inbound: NIOAsyncChannelInboundStream<ByteBuffer>,
        _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) async throws -> [UInt8] {
        async let sent: Void = outbound.write(ByteBuffer(bytes: bytes))
        var received: [UInt8] = []
        for try await buffer in inbound {
            received += buffer.readableBytesView
            if received.count >= bytes.count { break }
        }
        try await sent
        return received
    }
}

/// A blocking TCP connection to loopback without TLS, which nothing reads or closes unless told to.
final class PlainSocket: Sendable {
    let descriptor: Int32

    init(port: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw IOError(errnoCode: errno, reason: "socket") }
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: port)
        let result = address.withSockAddr { connect(descriptor, $0, socklen_t($1)) }
        guard result == 0 else {
            let error = IOError(errnoCode: errno, reason: "connect")
            close(descriptor)
            throw error
        }
    }

    deinit { close(descriptor) }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Whether the other side has closed; nothing has come before.
    var hasEnded: Bool {
        var scrap: UInt8 = 0
        return recv(descriptor, &scrap, 1, Int32(MSG_DONTWAIT)) == 0 || errno != EAGAIN
    }

    /// Waits until the other side has closed; bytes before that are discarded.
    func waitForEnd() async {
        let descriptor = descriptor
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            Thread.detachNewThread {
                var scrap = [UInt8](repeating: 0, count: 4096)
                while recv(descriptor, &scrap, scrap.count, 0) > 0 {}
                continuation.resume()
            }
        }
    }
}

/// A TCP server on loopback without TLS: what `answer` returns is sent to each connection that sends something.
func withPlainServer<Result>(
    answer: String?,
    closes: Bool = false,
    _ body: (_ port: Int) async throws -> Result
) async throws -> Result {
    let server = try await ServerBootstrap(group: sharedGroup)
        .childChannelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(PlainAnswer(answer: answer, closes: closes))
            }
        }
        .bind(host: "127.0.0.1", port: 0).get()
    let result: Result
    do {
        result = try await body(server.localAddress?.port ?? 0)
    } catch {
        try? await server.close()
        throw error
    }
    try await server.close()
    return result
}

private final class PlainAnswer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let answer: String?
    private let closes: Bool

    init(answer: String?, closes: Bool) {
        self.answer = answer
        self.closes = closes
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if let answer { context.writeAndFlush(NIOAny(ByteBuffer(string: answer)), promise: nil) }
        if closes { context.close(promise: nil) }
    }
}

/// A port on loopback where nothing listens.
func deadPort() async throws -> Int {
    let server = try await ServerBootstrap(group: sharedGroup).bind(host: "127.0.0.1", port: 0).get()
    let port = server.localAddress?.port ?? 0
    try await server.close()
    return port
}

/// Something that happens once, and that can be waited for.
actor Signal<Value: Sendable> {
    private var value: Value?
    private var waiting: [CheckedContinuation<Value, Never>] = []

    func fire(_ value: Value) {
        guard self.value == nil else { return }
        self.value = value
        for continuation in waiting { continuation.resume(returning: value) }
        waiting = []
    }

    func wait() async -> Value {
        if let value { return value }
        return await withCheckedContinuation { waiting.append($0) }
    }
}

/// True the first time it is asked.
final class OnceFlag: Sendable {
    private let isLeft = NIOLockedValueBox(true)

    func take() -> Bool {
        isLeft.withLockedValue { isLeft in
            defer { isLeft = false }
            return isLeft
        }
    }
}
