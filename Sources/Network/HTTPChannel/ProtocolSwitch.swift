import NIOCore
import NIOHTTP1
import SecureTransport

/// Takes a connection out of HTTP and out of its channel (RFC 9110, section 7.8), with every byte that has come behind
/// the last head. Belongs to the channel's event loop.
final class ProtocolSwitch {
    /// The handler that belongs below the decoder.
    let below = Below()
    /// The handler that belongs above the decoder.
    let above = Above()
    /// Must report bytes that it has not decoded as an error when it is removed.
    let decoder: any RemovableChannelHandler
    /// The connection after `leave`.
    private var stream: SecureStream?

    init(_ decoder: any RemovableChannelHandler) { self.decoder = decoder }

    /// Removes the decoder, sends `answer`, and closes the channel. Call it when the last request is complete.
    ///
    /// The answer comes last, and the channel is left before it reads again: a peer that knows the answer may send
    /// bytes and end its stream, and a channel that has read that end cannot be left.
    func leave(
        _ channel: any Channel, answering answer: HTTPServerResponsePart? = nil
    ) -> EventLoopFuture<SecureStream> {
        below.isKeeping = true
        let isRemoved = channel.eventLoop.makePromise(of: Void.self)
        channel.pipeline.syncOperations.removeHandler(decoder, promise: isRemoved)
        return isRemoved.futureResult.assumeIsolated().flatMap {
            answer.map { channel.writeAndFlush($0) } ?? channel.eventLoop.makeSucceededVoidFuture()
        }.flatMapThrowing { [self] in
            var early = above.rest
            early.writeImmutableBuffer(below.kept)
            let stream = try channel.leave(early: early)
            self.stream = stream
            return stream
        }.nonisolated()
    }

    /// Ends the connection, wherever it is.
    func breakOff(_ channel: any Channel) {
        if let stream { stream.interrupt() } else { channel.close(promise: nil) }
    }

    /// Keeps the bytes that come while the decoder is being removed.
    final class Below: ChannelDuplexHandler {
        typealias InboundIn = ByteBuffer
        typealias InboundOut = ByteBuffer
        typealias OutboundIn = NIOAny
        typealias OutboundOut = NIOAny

        fileprivate var isKeeping = false
        fileprivate private(set) var kept = ByteBuffer()

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard isKeeping else { return context.fireChannelRead(data) }
            kept.writeImmutableBuffer(Self.unwrapInboundIn(data))
        }

        func read(context: ChannelHandlerContext) {
            if !isKeeping { context.read() }
        }
    }

    /// Takes the bytes that the decoder has not decoded.
    final class Above: ChannelInboundHandler {
        typealias InboundIn = NIOAny
        typealias InboundOut = NIOAny

        fileprivate private(set) var rest = ByteBuffer()

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            guard case ByteToMessageDecoderError.leftoverDataWhenDone(let bytes) = error else {
                return context.fireErrorCaught(error)
            }
            rest = bytes
        }
    }
}

extension HTTPHeaders {
    /// Whether they ask for another protocol, or announce it. The parser stops behind such a head.
    var switchProtocols: Bool {
        contains(name: "upgrade") && self[canonicalForm: "connection"].contains { $0.lowercased() == "upgrade" }
    }

    /// Whether that protocol is one of those that they name.
    func switchProtocols(to name: String) -> Bool {
        switchProtocols && self[canonicalForm: "upgrade"].contains { $0 == name }
    }

    /// The fields that ask for a protocol, or announce it.
    static func switching(to name: String) -> HTTPHeaders { ["connection": "upgrade", "upgrade": name] }
}
