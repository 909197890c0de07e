import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1

/// Lets a thread read a request's body past the channel (`BodyInlet`), as soon as the body proves to be long.
///
/// The tap sits below the HTTP decoder and knows the position in the stream: it passes a head on separately, and
/// follows the chunks of the body. After a chunk it can keep the rest from the decoder, which then sees a shorter body.
/// An empty part marks the place of the rest. When the thread returns the way, the decoder continues at the stream's
/// new position. A dishonest peer causes no harm: it only misleads its own stream.
final class BodyTap: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = NIOAny
    typealias OutboundOut = NIOAny

    private enum State {
        /// A message is about to begin, or its head is arriving.
        case head(HeadEnd)
        /// In a message whose position is unknown or not needed.
        case unfollowed
        case body(ChunkFollower)
        /// Between two chunks; further bytes are kept until the current read is complete.
        case offering(ByteBuffer)
        /// A borrower reads. Bytes that are fired nevertheless are kept until it returns the way.
        case lent(ByteBuffer)
    }

    /// Bytes of a body that pass through the channel before the rest may bypass it: a shorter body is not worth it.
    private static let bytesBefore = 128 << 10

    private let inlet: BodyInlet
    private var state = State.head(HeadEnd())
    /// Bytes of this body that have gone through the channel since it began or was given back.
    private var passedBytes = 0
    /// The line end after a chunk's contents is not for the decoder, which has not seen the chunk.
    private var dropsLineEnd = false
    /// A handler has asked for more while a borrower reads.
    private var owesRead = false
    /// The handlers above take no more bytes.
    private var hasEnded = false
    private var context: ChannelHandlerContext?
    /// The decoder's result for the bytes that it received last.
    fileprivate var decoded: (isChunked: Bool?, hasEnded: Bool) = (nil, false)

    private weak var parts: Parts?
    /// The lent body, until the reader of the empty part takes it.
    private let offer = NIOLockedValueBox<BorrowedBody?>(nil)

    init(_ inlet: BodyInlet) { self.inlet = inlet }

    /// The handler that belongs above the decoder.
    func makeParts() -> Parts {
        let parts = Parts(self)
        self.parts = parts
        return parts
    }

    /// Lending and taking back, for the task that reads the requests. On the event loop.
    func desk(_ loop: any EventLoop) -> Desk {
        let tap = NIOLoopBound(self, eventLoop: loop)
        return Desk(offer: offer) { body in
            try? await loop.submit { tap.value.takeBack(body) }.get()
        }
    }

    struct Desk: Sendable {
        fileprivate let offer: NIOLockedValueBox<BorrowedBody?>
        /// See `takeBack`.
        let giveBack: @Sendable (BorrowedBody) async -> BorrowedBody?

        /// The body that an empty part stands for.
        func take() -> BorrowedBody? {
            offer.withLockedValue { offer in
                defer { offer = nil }
                return offer
            }
        }
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        hasEnded = true
        self.context = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        hasEnded = true
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        hasEnded = true
        context.fireErrorCaught(error)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = Self.unwrapInboundIn(data)
        while bytes.readableBytes > 0 { pass(&bytes, context) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // If no thread can borrow it, the rest passes on, and may be long enough to be offered again.
        while case .offering(let rest) = state { lend(rest, context) }
        context.fireChannelReadComplete()
    }

    func read(context: ChannelHandlerContext) {
        if case .lent = state { owesRead = true } else { context.read() }
    }

    /// Passes on, or keeps, bytes of one message.
    private func pass(_ bytes: inout ByteBuffer, _ context: ChannelHandlerContext) {
        switch state {
        case .head(var end):
            let count = end.find(in: bytes)
            state = .head(end)
            guard let head = bytes.readSlice(length: count ?? bytes.readableBytes) else { return }
            hand(head, context)
            // If the decoder saw a head that did not end with these bytes, the beginning of the body is unknown.
            if let isChunked = decoded.isChunked, !decoded.hasEnded {
                state = isChunked && count != nil ? .body(ChunkFollower()) : .unfollowed
                passedBytes = 0
            }
        case .unfollowed:
            handRest(&bytes, context)
        case .body(let follower):
            follow(&bytes, follower, context)
        case .offering(var kept):
            state = .unfollowed
            kept.writeBuffer(&bytes)
            state = .offering(kept)
        case .lent(var kept):
            state = .unfollowed
            kept.writeBuffer(&bytes)
            state = .lent(kept)
        }
    }

    private func follow(_ bytes: inout ByteBuffer, _ follower: ChunkFollower, _ context: ChannelHandlerContext) {
        var (follower, ahead) = (follower, bytes)
        if dropsLineEnd {
            let step = follower.step(&ahead)
            dropsLineEnd = step == .starved
            bytes = ahead
            state = .body(follower)
            // Not a line end: the decoder does not take it for the beginning of a chunk either.
            if step == .stopped {
                state = .unfollowed
                hand(ByteBuffer(string: "\r\n"), context)
            }
            return
        }
        while true {
            switch follower.step(&ahead) {
            case .data(let data):
                passedBytes += data.readableBytes
            case .boundary where passedBytes >= Self.bytesBefore:
                state = .offering(ByteBuffer())
                if let before = bytes.readSlice(length: bytes.readableBytes - ahead.readableBytes) {
                    hand(before, context)
                }
                return
            case .boundary:
                break
            case .starved:
                state = .body(follower)
                return handRest(&bytes, context)
            case .stopped:
                state = .unfollowed
                return handRest(&bytes, context)
            }
        }
    }

    private func handRest(_ bytes: inout ByteBuffer, _ context: ChannelHandlerContext) {
        guard let rest = bytes.readSlice(length: bytes.readableBytes) else { return }
        hand(rest, context)
        // The beginning of the next head may have come with these bytes.
        if decoded.hasEnded { state = .head(HeadEnd(after: rest)) }
    }

    private func hand(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        decoded = (nil, false)
        context.fireChannelRead(Self.wrapInboundOut(bytes))
    }

    private func lend(_ rest: ByteBuffer, _ context: ChannelHandlerContext) {
        passedBytes = 0
        guard let receive = inlet.open() else {
            state = .body(ChunkFollower())
            return channelRead(context: context, data: Self.wrapInboundOut(rest))
        }
        state = .lent(ByteBuffer())
        offer.withLockedValue { $0 = BorrowedBody(receive, rest: rest) }
        parts?.markPlace()
    }

    /// Continues at the position of the body that was read past the channel.
    /// - Returns: the rest of the body, if it can no longer come through the channel.
    func takeBack(_ body: BorrowedBody) -> BorrowedBody? {
        guard case .lent(let kept) = state else { return nil }
        guard !hasEnded, let context else {
            state = .unfollowed
            return body.ending(with: kept)
        }
        state = .body(body.follower)
        dropsLineEnd = body.follower.owesLineEnd
        let introduction = body.follower.introduction
        if !introduction.isEmpty { hand(ByteBuffer(string: introduction), context) }
        for bytes in [body.rest, kept] { channelRead(context: context, data: Self.wrapInboundOut(bytes)) }
        inlet.close()
        channelReadComplete(context: context)
        if owesRead {
            owesRead = false
            read(context: context)
        }
        return nil
    }

    /// Observes the parts that the decoder produces.
    final class Parts: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias InboundOut = HTTPServerRequestPart

        private let tap: BodyTap
        private var context: ChannelHandlerContext?

        fileprivate init(_ tap: BodyTap) { self.tap = tap }

        func handlerAdded(context: ChannelHandlerContext) { self.context = context }

        func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch Self.unwrapInboundIn(data) {
            case .head(let head):
                let isChunked = head.headers[canonicalForm: "transfer-encoding"].last?.lowercased() == "chunked"
                tap.decoded = (isChunked, false)
            case .end: tap.decoded.hasEnded = true
            case .body: break
            }
            context.fireChannelRead(data)
        }

        /// Marks the place of the lent body by an empty part, which no decoder produces.
        fileprivate func markPlace() {
            context?.fireChannelRead(Self.wrapInboundOut(.body(ByteBuffer())))
        }
    }
}

/// Looks for the end of a message's head, which may come in several pieces.
private struct HeadEnd {
    private static let end: StaticString = "\r\n\r\n"
    /// Bytes of the end that have been found.
    private var matched = 0

    init() {}

    /// - Parameter bytes: their last bytes may be the beginning of the end.
    init(after bytes: ByteBuffer) {
        let count = min(bytes.readableBytes, Self.end.utf8CodeUnitCount - 1)
        if let last = bytes.getSlice(at: bytes.writerIndex - count, length: count) { _ = find(in: last) }
    }

    /// - Returns: the number of `bytes` up to and including the end; nil if the end is not among them.
    mutating func find(in bytes: ByteBuffer) -> Int? {
        Self.end.withUTF8Buffer { end in
            for (count, byte) in bytes.readableBytesView.enumerated() {
                if byte != end[matched] { matched = 0 }
                // A return that breaks one match may begin the next.
                if byte == end[matched] { matched += 1 }
                guard matched == end.count else { continue }
                matched = 0
                return count + 1
            }
            return nil
        }
    }
}
