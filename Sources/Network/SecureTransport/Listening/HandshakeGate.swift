internal import NIOCore
internal import Sharing

/// Stands above the TLS handler until the handshake has ended, reports the result, and removes itself.
///
/// No other handler is above it until then, so a peer that has not proved its key reaches no other code.
final class HandshakeGate: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private var onEnd: ((Result<PeerID, any Error>) -> Void)?

    /// - Parameter onEnd: called once, on the channel's event loop. Handlers that it adds see all plaintext.
    init(onEnd: @escaping (Result<PeerID, any Error>) -> Void) {
        self.onEnd = onEnd
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .handshakeCompleted(let peerID) = event as? TLSEvent else {
            return context.fireUserInboundEventTriggered(event)
        }
        end(.success(peerID))
        context.fireUserInboundEventTriggered(event)
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Not passed on: the error is reported here, and no handler is above.
        if onEnd != nil { end(.failure(error)) } else { context.fireErrorCaught(error) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        end(.failure(TLSError.closedInHandshake))
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        end(.failure(TLSError.closedInHandshake))
    }

    private func end(_ result: Result<PeerID, any Error>) {
        guard let onEnd else { return }
        self.onEnd = nil
        onEnd(result)
    }
}
