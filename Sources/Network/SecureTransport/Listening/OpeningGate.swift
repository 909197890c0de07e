internal import NIOCore

/// Waits until a connection without TLS is open, reports it, and removes itself.
final class OpeningGate: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let onOpening: () -> Void

    /// - Parameter onOpening: called once, on the channel's event loop. Handlers that it adds see all bytes.
    init(onOpening: @escaping () -> Void) {
        self.onOpening = onOpening
    }

    func channelActive(context: ChannelHandlerContext) {
        onOpening()
        context.fireChannelActive()
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }
}
