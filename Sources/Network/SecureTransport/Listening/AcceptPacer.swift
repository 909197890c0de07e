internal import Glibc
internal import NIOCore

/// Reports connections in the order of their arrival, before their own event loops handle them. When no descriptors are
/// left, it pauses before it accepts again: the waiting connections keep the socket readable, so the event loop would
/// spin.
final class AcceptPacer: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias OutboundIn = any Channel

    private static let pause = TimeAmount.milliseconds(100)

    private let onArrival: (any Channel) -> Void
    private let onExhaustion: () -> Void
    private var resumption: Scheduled<Void>?

    init(onArrival: @escaping (any Channel) -> Void, onExhaustion: @escaping () -> Void) {
        self.onArrival = onArrival
        self.onExhaustion = onExhaustion
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        onArrival(Self.unwrapInboundIn(data))
        context.fireChannelRead(data)
    }

    func read(context: ChannelHandlerContext) {
        // A read during the pause is made up for at its end.
        if resumption == nil { context.read() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? IOError, [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error.errnoCode) else {
            return context.fireErrorCaught(error)
        }
        guard resumption == nil else { return }
        resumption = context.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) { [weak self] in
            self?.resumption = nil
            context.read()
        }
        onExhaustion()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        resumption?.cancel()
    }
}
