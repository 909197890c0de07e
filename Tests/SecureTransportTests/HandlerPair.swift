import NIOCore
import NIOEmbedded
import Sharing
import Testing

@testable import SecureTransport

/// The layer below a TLS handler in these tests: a socket that shows the calls it gets.
final class Wire: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Written bytes that the test has not taken.
    var written = ByteBuffer()
    /// The sizes of the writes that were made.
    var writes: [Int] = []
    var flushes = 0
    var reads = 0
    var closes: [CloseMode] = []

    /// Keeps the promises of writes until `release`, as a socket does whose peer does not read.
    var holdsWrites = false
    private var held: [EventLoopPromise<Void>] = []

    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    /// Ends the connection from below, as a socket does.
    func cut() { context?.close(mode: .all, promise: nil) }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        var buffer = Self.unwrapOutboundIn(data)
        writes.append(buffer.readableBytes)
        written.writeBuffer(&buffer)
        guard let promise else { return }
        if holdsWrites { held.append(promise) } else { promise.succeed() }
    }

    func flush(context: ChannelHandlerContext) { flushes += 1 }

    func read(context: ChannelHandlerContext) { reads += 1 }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        closes.append(mode)
        guard mode == .all else {
            promise?.succeed()
            return
        }
        context.close(mode: mode, promise: promise)
    }

    func take() -> ByteBuffer {
        defer { written = ByteBuffer() }
        return written
    }

    func release() {
        holdsWrites = false
        for promise in held { promise.succeed() }
        held = []
    }
}

/// The layer above a TLS handler in these tests: it shows the events it gets.
final class Listener: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    enum Event: Equatable {
        case handshakeCompleted(PeerID)
        case read(Int)
        case readComplete
        case inputClosed
        case error(TLSError.Code?)
        case inactive
    }

    var events: [Event] = []
    var received: [UInt8] = []

    /// Asks for more whenever it has got something, as a channel with automatic reading does.
    var asksForMore = true
    /// Is called when the handshake is done.
    var onHandshake: ((ChannelHandlerContext) -> Void)?

    func channelActive(context: ChannelHandlerContext) {
        if asksForMore { context.read() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = Self.unwrapInboundIn(data)
        received += buffer.readableBytesView
        events.append(.read(buffer.readableBytes))
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        events.append(.readComplete)
        if asksForMore { context.read() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case TLSEvent.handshakeCompleted(let peerID):
            events.append(.handshakeCompleted(peerID))
            onHandshake?(context)
        case ChannelEvent.inputClosed:
            events.append(.inputClosed)
        default:
            break
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        events.append(.error((error as? TLSError)?.code))
    }

    func channelInactive(context: ChannelHandlerContext) { events.append(.inactive) }
}

/// One side of a connection: a channel with a TLS handler between a `Wire` and a `Listener`.
final class Side {
    let channel: EmbeddedChannel
    let wire = Wire()
    let tls: TLSHandler
    let listener = Listener()

    init(_ role: TLSContext.Role, loop: EmbeddedEventLoop, limits: TransportLimits = TransportLimits()) throws {
        let identity = role == .client ? Identities.alice : Identities.bob
        tls = try TLSHandler(context: .make(role: role, identity: identity, profile: .waft, limits: limits))
        channel = EmbeddedChannel(handlers: [wire, tls, listener], loop: loop)
    }

    deinit {
        // A channel that is not closed holds itself.
        wire.cut()
        channel.embeddedEventLoop.run()
    }

    func connect() throws { try channel.connect(to: SocketAddress(unixDomainSocketPath: "/")).wait() }

    /// Lets `bytes` come from the socket with one read.
    func receive(_ bytes: ByteBuffer) {
        guard bytes.readableBytes > 0, channel.isActive else { return }
        channel.pipeline.fireChannelRead(bytes)
        channel.pipeline.fireChannelReadComplete()
    }

    func write(_ bytes: [UInt8]) -> EventLoopFuture<Void> { channel.writeAndFlush(ByteBuffer(bytes: bytes)) }
}

/// Two sides on one event loop whose clock stands still.
struct HandlerPair {
    let loop = EmbeddedEventLoop()
    let client: Side
    let server: Side

    init(limits: TransportLimits = TransportLimits()) throws {
        client = try Side(.client, loop: loop, limits: limits)
        server = try Side(.server, loop: loop, limits: limits)
    }

    /// A pair whose handshake is done.
    static func open(limits: TransportLimits = TransportLimits()) throws -> HandlerPair {
        let pair = try HandlerPair(limits: limits)
        try pair.connect()
        pair.settle()
        #expect(pair.client.listener.events == [.handshakeCompleted(Identities.bob.peerID)])
        #expect(pair.server.listener.events == [.handshakeCompleted(Identities.alice.peerID)])
        pair.client.listener.events = []
        pair.server.listener.events = []
        return pair
    }

    func connect() throws {
        try client.connect()
        try server.connect()
    }

    /// Carries bytes until neither side has anything to say.
    func settle() {
        while client.wire.written.readableBytes > 0 || server.wire.written.readableBytes > 0 {
            server.receive(client.wire.take())
            client.receive(server.wire.take())
        }
    }
}

extension EventLoopFuture<Void> {
    /// How it ended; nil if it has not.
    func outcome() -> Outcome? {
        let box = Box()
        assumeIsolated().whenComplete { result in
            switch result {
            case .success: box.outcome = .succeeded
            case .failure(let error): box.outcome = .failed("\(error)")
            }
        }
        return box.outcome
    }

    enum Outcome: Equatable {
        case succeeded
        case failed(String)
    }

    private final class Box {
        var outcome: Outcome?
    }
}
