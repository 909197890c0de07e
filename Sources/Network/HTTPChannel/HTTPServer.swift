import NIOConcurrencyHelpers
package import NIOCore
import NIOHTTP1
import Sharing
private import Synchronization

/// The server's side of HTTP/1.1 on channels that are already secured. It has no resources: the dialects have them.
package enum HTTPServer {
    /// A channel after `configure`.
    package struct Connection: Sendable {
        let channel: NIOAsyncChannel<HTTPServerRequestPart, HTTPServerResponsePart>
        let watch: SilenceWatch
        let stop: ReadStop
        let exit: NIOLoopBound<ProtocolSwitch>

        /// Closes a connection that will not be served. Each connection must be served or closed.
        package func close() {
            channel.channel.close(promise: nil)
        }
    }

    /// Adds the HTTP handlers to a channel. Called on its event loop, after the TLS handler, before the first read.
    /// - Parameters:
    ///   - watchInterval: how often the watch checks whether the other side has been silent for too long.
    package static func configure(
        _ channel: any Channel,
        watchInterval: TimeAmount = .seconds(1)
    ) throws -> Connection {
        let watch = SilenceWatch(interval: watchInterval)
        let stop = ReadStop()
        let exit = ProtocolSwitch(
            ByteToMessageHandler(
                HTTPRequestDecoder(leftOverBytesStrategy: .fireError, limitConfiguration: HTTPLimits.decoder),
                maximumBufferSize: HTTPLimits.unparsedBytes
            ))
        // No pipelining assistance: an asynchronous sequence delivers the requests one by one anyway.
        try channel.pipeline.syncOperations.addHandlers(
            stop, watch, HTTPResponseEncoder(), exit.below, exit.decoder, exit.above,
            NIOHTTPResponseHeadersValidator(),
            // Answers 400 to bytes that are not HTTP. Then the connection ends, even if no task reads the requests.
            HTTPServerProtocolErrorHandler(),
            NIOCloseOnErrorHandler()
        )
        let wrapped = try NIOAsyncChannel<HTTPServerRequestPart, HTTPServerResponsePart>(
            wrappingChannelSynchronously: channel,
            // Counted in parts of a body, which the TLS layer makes up to 512 KiB large: this bounds the memory.
            configuration: .init(backPressureStrategy: .init(lowWatermark: 2, highWatermark: 4))
        )
        wrapped.keepUntilClosed()
        return Connection(
            channel: wrapped, watch: watch, stop: stop, exit: NIOLoopBound(exit, eventLoop: channel.eventLoop))
    }

    /// Answers requests until either side ends the connection; returns when it is closed.
    ///
    /// - Parameters:
    ///   - idle: how long the connection may be unused before the next request; evaluated before each request.
    ///   - silence: how long the other side may send nothing in the middle of a request.
    ///   - interim: how often a client that waits for its answer gets an interim one.
    ///   - lingering: how long the server reads on after an early answer, so that no reset destroys the answer.
    ///   - isIdle: called with true when the wait for the next request begins, and with false when its head has
    ///     arrived.
    ///   - respond: answers one request, on the caller's executor. An `HTTPError` it throws is answered with its
    ///     status; any other error closes the connection.
    package static func serve(
        _ connection: Connection,
        idle: @autoclosure () -> Duration,
        silence: Duration,
        interim: Duration = .seconds(15),
        lingering: Duration = .seconds(2),
        isIdle: (Bool) -> Void = { _ in },
        respond: (HTTPExchange) async throws -> Void
    ) async {
        let departure = Departure(of: connection.channel.channel, connection.watch)
        try? await connection.channel.executeThenClose { inbound, outbound in
            let stream = InboundParts(
                inbound.makeAsyncIterator(), watch: connection.watch, stop: connection.stop)
            while true {
                isIdle(true)
                guard case .head(let head)? = try await stream.next(within: idle()) else { return }
                isIdle(false)
                let exchange = HTTPExchange(
                    head: head,
                    stream: stream,
                    outbound: outbound,
                    channel: connection.channel.channel,
                    exit: connection.exit,
                    departure: departure,
                    timeout: HTTPExchange.Timeouts(silence: silence, interim: interim, lingering: lingering)
                )
                do {
                    try await respond(exchange)
                } catch let fault as HTTPError {
                    guard let status = fault.status, !exchange.hasAnswered else { throw fault }
                    try await exchange.respondAndClose(status, text: fault.description)
                }
                guard try await exchange.finish() else { return }
                guard head.isKeepAlive else { return try await exchange.linger() }
            }
        }
    }
}

/// The parts of requests as they arrive; one reader.
final class InboundParts {
    private var iterator: NIOAsyncChannelInboundStream<HTTPServerRequestPart>.AsyncIterator
    let watch: SilenceWatch
    let stop: ReadStop

    init(
        _ iterator: NIOAsyncChannelInboundStream<HTTPServerRequestPart>.AsyncIterator,
        watch: SilenceWatch,
        stop: ReadStop
    ) {
        self.iterator = iterator
        self.watch = watch
        self.stop = stop
    }

    /// - Returns: nil when the other side has closed.
    /// - Throws: `HTTPError.silence` when the watch closed the connection.
    func next(within timeout: Duration) async throws -> HTTPServerRequestPart? {
        watch.expect(within: timeout)
        defer { watch.rest() }
        do {
            if let part = try await iterator.next() { return part }
        } catch  where watch.expired {
            throw HTTPError.silence
        }
        if watch.expired { throw HTTPError.silence }
        return nil
    }
}

/// Cancels the work for a client that has left. One per connection, for all its requests.
final class Departure: Sendable {
    private struct State {
        var hasLeft = false
        var cancel: (@Sendable () -> Void)?
        /// The first that was noted.
        var cause: EndCause?
    }

    private let state = NIOLockedValueBox(State())

    /// - Parameter watch: the handler of the channel that sees its errors.
    init(of channel: any Channel, _ watch: SilenceWatch) {
        channel.closeFuture.whenComplete { [state] _ in
            let cancel = state.withLockedValue { state in
                state.hasLeft = true
                state.cause = state.cause ?? (watch.hasSeenError ? .fault : .senderCancelled)
                defer { state.cancel = nil }
                return state.cancel
            }
            cancel?()
        }
    }

    /// Why the connection, or the work for its client, ended; nil before.
    var cause: EndCause? { state.withLockedValue(\.cause) }

    /// The work for the client ends on this side.
    func noteStop() { state.withLockedValue { $0.cause = $0.cause ?? .receiverStopped } }

    /// Calls `cancel` when the client leaves, or at once if it has left. Each call replaces the last closure.
    func whenLeft(_ cancel: (@Sendable () -> Void)?) {
        let hasLeft = state.withLockedValue { state in
            state.cancel = state.hasLeft ? nil : cancel
            return state.hasLeft
        }
        if hasLeft { cancel?() }
    }
}

/// Stops reading from a client that keeps sending an unwanted body.
///
/// The client then waits until the connection is closed. Reading and dropping its bytes would cost as much as using
/// them.
final class ReadStop: ChannelDuplexHandler, Sendable {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let hasStopped = Atomic<Bool>(false)

    /// Stops reading for good. Callable from any thread.
    func stop() { hasStopped.store(true, ordering: .relaxed) }

    func read(context: ChannelHandlerContext) {
        if !hasStopped.load(ordering: .relaxed) { context.read() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if !hasStopped.load(ordering: .relaxed) { context.fireChannelRead(data) }
    }
}
