import NIOCore
private import Synchronization

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
