import NIOConcurrencyHelpers
package import NIOCore
package import NIOHTTP1

/// Passes final answers on, and counts them: the sender of a long body can see at once that an answer has begun.
package final class AnswerWatch: ChannelInboundHandler, Sendable {
    package typealias InboundIn = HTTPClientResponsePart
    package typealias InboundOut = HTTPClientResponsePart

    private struct State {
        var bodyBytes = 0
        var answersWaiting = 0
    }

    private let limit: Int
    private let watch: SilenceWatch
    private let state = NIOLockedValueBox(State())

    init(limit: Int, watch: SilenceWatch) {
        self.limit = limit
        self.watch = watch
    }

    /// Whether the head of a final answer has arrived that the client has not read yet.
    var hasAnswer: Bool { state.withLockedValue { $0.answersWaiting > 0 } }

    /// The answer was taken.
    func taken() {
        state.withLockedValue { $0.answersWaiting -= 1 }
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        switch part {
        case .head(let head) where (100..<200).contains(head.status.code) && head.status != .switchingProtocols:
            // The other side is still working. An informational head comes without an end.
            return watch.signOfLife()
        case .head:
            state.withLockedValue { state in
                state.bodyBytes = 0
                state.answersWaiting += 1
            }
        case .body(let bytes):
            let fits = state.withLockedValue { state in
                state.bodyBytes += bytes.readableBytes
                return state.bodyBytes <= limit
            }
            guard fits else {
                context.fireErrorCaught(HTTPError.tooLarge)
                return context.close(promise: nil)
            }
        case .end:
            break
        }
        context.fireChannelRead(data)
    }
}
