import NIOCore
private import Synchronization

/// Takes nothing more from a client that goes on sending what nobody wants, once it is told so.
///
/// The client waits until the connection is closed: reading and dropping would cost as much as reading.
final class ReadStop: ChannelDuplexHandler, Sendable {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let hasStopped = Atomic<Bool>(false)

    /// From any thread, for good.
    func stop() { hasStopped.store(true, ordering: .relaxed) }

    func read(context: ChannelHandlerContext) {
        if !hasStopped.load(ordering: .relaxed) { context.read() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if !hasStopped.load(ordering: .relaxed) { context.fireChannelRead(data) }
    }
}
