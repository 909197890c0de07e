package import NIOCore
package import Sharing

/// TLS in a channel's pipeline: ciphertext below, plaintext above.
///
/// - It fires `TLSEvent.handshakeCompleted` before the first plaintext, and `errorCaught` with a `TLSError` when the
///   handshake fails, a record is broken, or the stream ends without the peer's close_notify (`truncated`); then it
///   closes the channel.
/// - Inbound, each read of the socket becomes one large buffer. Nothing is decrypted that was not asked for by `read`.
/// - Outbound, what is flushed is encrypted in batches of many records, each for one system call, and only while the
///   channel is writable: ciphertext does not pile up. A write's promise is kept when its last byte is with the kernel.
/// - A thread that produces a long stream can borrow the way to the peer (`OutboundLoan`), and gives it to the socket itself.
/// - A thread that wants a long stream can borrow what comes from the peer in the same way (`InboundLoan`).
/// - Closing sends what was flushed and a close_notify (`TransportLimits.drainDeadline`), waits for the peer's
///   (`closeDeadline`), and closes. The peer's close_notify closes the channel too, or, where the channel allows remote
///   half closure, surfaces as `ChannelEvent.inputClosed`.
///
/// ```
/// idle ──active──▶ handshaking ──▶ open ──close, or the peer's close_notify──▶ closing ──▶ closed
///                       │            │                                            ▲
///                       └──error─────┴──▶ failed (the alert is on its way) ───────┴──▶ closed
/// ```
package final class TLSHandler: ChannelDuplexHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer
    package typealias OutboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    enum State {
        case idle
        case handshaking
        case open
        case closing
        case failed
        case closed
    }

    /// What has become of this side's stream to the peer.
    enum Outbound {
        case open
        /// What was flushed leaves, then the close_notify.
        case ending
        /// The close_notify is on its way.
        case endSent
        case ended
    }

    private let ownEngine: TLSEngine
    /// Taken back first, where it is lent.
    var engine: TLSEngine {
        reclaim()
        return ownEngine
    }
    /// Where this side's way to the peer is lent.
    var outboundLoan: OutboundLoan?
    /// Where what comes from the peer is lent.
    var inboundLoan: InboundLoan?
    /// How the channel reads when that is given back; nil where it reads now.
    var withheld: Reading?

    struct Reading {
        var allocator: any RecvByteBufferAllocator
        var isAutomatic: Bool
    }

    /// When that is out which the socket had not taken of what the last borrower has sent.
    var unsentIsOut: EventLoopFuture<Void>?
    let limits: TransportLimits

    var state = State.idle
    var outbound = Outbound.open
    var context: ChannelHandlerContext?
    var pool: BufferPool?

    /// The handshake's deadline, or later that of closing.
    var deadline: Scheduled<Void>?

    var pending = PendingPlaintext()
    var isEncrypting = false

    /// The layer above has called `read` and has got nothing since.
    var hasDemand = false
    /// Plaintext was fired, and `channelReadComplete` was not yet.
    var hasDelivered = false
    var hasFiredInputClosed = false
    /// The socket's own stream has ended, which says nothing of whether TLS's has.
    var socketInputHasEnded = false
    /// The channel has reported an error of its own: that the stream is cut is no news then.
    var transportHasFailed = false

    /// Those who wait for the channel to close, or for this side of it.
    var closePromises: [EventLoopPromise<Void>] = []
    var outputClosePromises: [EventLoopPromise<Void>] = []

    /// Whether there is no time to drain: this process wants to end.
    var isHurried = false

    /// Bytes thrown away while waiting for the peer to close after a failure.
    var discardedBytes = 0

    /// - Parameters:
    ///   - context: the role, the identity and the rules.
    ///   - expectedPeers: the only keys the peer may have; nil for any. With another key the handshake fails, before
    ///     anything is sent that the layer above wrote.
    /// - Throws: `TLSError` if there is no memory.
    package init(context: TLSContext, expectedPeers: Set<PeerID>? = nil) throws(TLSError) {
        ownEngine = try TLSEngine(context: context, expectedPeers: expectedPeers)
        limits = context.limits
    }

    /// The key that the peer proved to hold; nil before the handshake is done.
    package var peerID: PeerID? { engine.peerID }

    /// The cipher suite in use, such as `TLS_AES_128_GCM_SHA256`.
    package var cipherSuite: String? { engine.cipherSuite }

    /// See `TLSEngine.exportKeyingMaterial`.
    package func exportKeyingMaterial(label: String, context: [UInt8], length: Int) throws(TLSError) -> [UInt8] {
        try engine.exportKeyingMaterial(label: label, context: context, length: length)
    }

    // MARK: Coming and going

    package func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        pool = BufferPool.ofThisThread()
        if context.channel.isActive { start(context) }
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        reclaim()
        deadline?.cancel()
        state = .closed
        failPending(ChannelError.ioOnClosedChannel)
        settleClosePromises()
        self.context = nil
        pool = nil
    }

    package func channelActive(context: ChannelHandlerContext) {
        start(context)
        context.fireChannelActive()
    }

    private func start(_ context: ChannelHandlerContext) {
        guard state == .idle else { return }
        state = .handshaking
        schedule(limits.handshakeDeadline, context) { handler, context in
            handler.fail(.handshakeTimedOut, context)
        }
        advanceHandshake(context)
        // The handshake needs to read, whatever the layer above wants.
        if state == .handshaking { context.read() }
    }

    /// Sets the one deadline that is running.
    func schedule(
        _ delay: Duration,
        _ context: ChannelHandlerContext,
        _ body: @escaping (TLSHandler, ChannelHandlerContext) -> Void
    ) {
        deadline?.cancel()
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) { [weak self] in
            guard let self, let context = self.context else { return }
            self.deadline = nil
            body(self, context)
        }
    }

    /// Goes on with the handshake as far as what came in allows.
    func advanceHandshake(_ context: ChannelHandlerContext) {
        let isDone: Bool
        do throws(TLSError) {
            isDone = try engine.handshake()
        } catch {
            return fail(error, context)
        }
        sendOutbound(context, promise: nil)
        guard isDone, state == .handshaking, let peerID = engine.peerID else { return }
        state = .open
        deadline?.cancel()
        deadline = nil
        context.fireUserInboundEventTriggered(TLSEvent.handshakeCompleted(peerID))
        // What the layer above wrote and flushed until now, or just now.
        advanceOutbound(context)
    }

    // MARK: Failing

    /// Tells the layer above, lets the alert leave, and closes.
    func fail(_ error: TLSError, _ context: ChannelHandlerContext) {
        guard state != .failed, state != .closed else { return }
        state = .failed
        schedule(limits.closeDeadline, context) { handler, context in handler.finishClosing(context) }
        let alertIsOut = context.eventLoop.makePromise(of: Void.self)
        alertIsOut.futureResult.assumeIsolated().whenComplete { [weak self] _ in self?.failureIsTold(error) }
        failPending(error)
        context.fireErrorCaught(error)
        sendOutbound(context, promise: alertIsOut)
    }

    private func failureIsTold(_ error: TLSError) {
        guard state == .failed, let context else { return }
        // Closing a socket with unread input resets the connection, and the reset may overtake the alert. A server
        // therefore ends its own direction only and waits for the client to close, within the deadline.
        let isWorthWaiting = error.code != .handshakeTimedOut && !socketInputHasEnded && !isHurried
        guard engine.context.role == .server, isWorthWaiting else { return finishClosing(context) }
        let isHalfClosed = context.eventLoop.makePromise(of: Void.self)
        isHalfClosed.futureResult.assumeIsolated().whenFailure { [weak self] _ in
            guard let self, self.state == .failed, let context = self.context else { return }
            self.finishClosing(context)
        }
        context.close(mode: .output, promise: isHalfClosed)
        if state == .failed { context.read() }
    }

    func failPending(_ error: any Error) {
        for promise in pending.takeAll() { promise.fail(error) }
    }
}
