package import NIOCore
package import Sharing

/// TLS in a channel's pipeline: ciphertext below, plaintext above.
///
/// - It fires `TLSEvent.handshakeCompleted` before the first plaintext, and `errorCaught` with a `TLSError` when the
///   handshake fails, a record is broken, or the stream ends without the peer's close_notify (`truncated`); then it
///   closes the channel.
/// - Inbound, each read of the socket becomes one large buffer. Data is decrypted only after a `read` asked for it.
/// - Outbound, flushed data is encrypted in batches of many records, each for one system call, and only while the
///   channel is writable: ciphertext does not pile up. A write's promise succeeds when the kernel has its last byte.
/// - A thread that moves a long stream can take the connection out of the channel (`Channel.leave`).
/// - Closing sends the flushed data and a close_notify (`TransportLimits.drainDeadline`), waits for the peer's
///   (`closeDeadline`), and closes. The peer's close_notify closes the channel too or, if the channel allows remote
///   half closure, surfaces as `ChannelEvent.inputClosed`.
///
/// ```
/// idle ──active──▶ handshaking ──▶ open ──close, or the peer's close_notify──▶ closing ──▶ closed
///                       │            │                                            ▲
///                       └──error─────┴──▶ failed (the alert is on its way) ───────┴──▶ closed
/// ```
///
/// `left`, after `leave`: a `SecureStream` has the connection, and this handler does nothing more.
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
        case left
    }

    /// The state of this side's stream to the peer.
    enum Outbound {
        case open
        /// The flushed data is being sent, then the close_notify.
        case ending
        /// The close_notify is on its way.
        case endSent
        case ended
    }

    let engine: TLSEngine
    let limits: TransportLimits

    var state = State.idle
    var outbound = Outbound.open
    var context: ChannelHandlerContext?

    /// The handshake's deadline, or later that of closing.
    var deadline: Scheduled<Void>?

    var pending = PendingPlaintext()
    var isEncrypting = false

    /// The layer above has called `read` and has received nothing since.
    var hasDemand = false
    /// Plaintext was fired, but `channelReadComplete` was not.
    var hasDelivered = false
    var hasFiredInputClosed = false
    /// The socket's stream has ended; TLS's stream may still be incomplete.
    var socketInputHasEnded = false
    /// The channel has reported its own error: a truncated stream is then no separate error.
    var transportHasFailed = false

    /// Promises for closing the channel, or this side of it.
    var closePromises: [EventLoopPromise<Void>] = []
    var outputClosePromises: [EventLoopPromise<Void>] = []

    /// Whether there is no time to drain: this process is about to end.
    var isHurried = false

    /// Bytes dropped while waiting for the peer to close after a failure.
    var discardedBytes = 0

    /// - Parameters:
    ///   - context: the role, the identity and the rules.
    ///   - pin: the only peers that the connection may have.
    /// - Throws: `TLSError` if there is no memory.
    package init(context: TLSContext, pin: PeerPin = .any) throws(TLSError) {
        engine = try TLSEngine(context: context, pin: pin)
        limits = context.limits
    }

    /// The key that the peer proved to hold; nil before the handshake is done.
    package var peerID: PeerID? { engine.peerID }

    /// See `TLSEngine.certificateFingerprint`.
    package var certificateFingerprint: CertificateFingerprint? { engine.certificateFingerprint }

    /// See `TLSEngine.applicationProtocol`.
    package var applicationProtocol: String? { engine.applicationProtocol }

    /// The cipher suite in use, such as `TLS_AES_128_GCM_SHA256`.
    package var cipherSuite: String? { engine.cipherSuite }

    /// See `TLSEngine.exportKeyingMaterial`.
    package func exportKeyingMaterial(label: String, context: [UInt8], length: Int) throws(TLSError) -> [UInt8] {
        try engine.exportKeyingMaterial(label: label, context: context, length: length)
    }

    // MARK: Adding and removing

    package func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive { start(context) }
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        deadline?.cancel()
        if state != .left { state = .closed }
        failPending(ChannelError.ioOnClosedChannel)
        settleClosePromises()
        self.context = nil
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
        // The handshake needs to read, even without demand from above.
        if state == .handshaking { context.read() }
    }

    /// Sets the handler's only deadline.
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

    /// Continues the handshake as far as the input allows.
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
        // Data that the layer above wrote and flushed until now, or just now.
        advanceOutbound(context)
    }

    // MARK: Failing

    /// Reports the error to the layer above, sends the alert, and closes.
    func fail(_ error: TLSError, _ context: ChannelHandlerContext) {
        guard state != .failed, state != .closed, state != .left else { return }
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
