import NIOConcurrencyHelpers
package import NIOCore
package import NIOHTTP1

/// Puts the parts of each answer together, so that whoever sends a long body can see at a glance that an answer came.
package final class AnswerCollector: ChannelInboundHandler, Sendable {
    package typealias InboundIn = HTTPClientResponsePart
    package typealias InboundOut = HTTPAnswer

    private struct State {
        var answer: HTTPAnswer?
        var answersWaiting = 0
        var patience: Duration = .seconds(60)
    }

    private let limit: Int
    private let watch: SilenceWatch
    private let state = NIOLockedValueBox(State())

    init(limit: Int, watch: SilenceWatch) {
        self.limit = limit
        self.watch = watch
    }

    /// Whether a final answer is here that nobody has taken.
    var hasAnswer: Bool { state.withLockedValue { $0.answersWaiting > 0 } }

    /// The answer was taken.
    func taken() {
        state.withLockedValue { $0.answersWaiting -= 1 }
    }

    /// How much silence a sign of life is good for.
    func patience(_ patience: Duration) {
        state.withLockedValue { $0.patience = patience }
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head) where (100..<200).contains(head.status.code):
            // Still at it. An informational head comes without an end.
            watch.expect(within: state.withLockedValue { $0.patience })
        case .head(let head):
            let answer = HTTPAnswer(status: head.status, headers: head.headers, body: ByteBuffer())
            state.withLockedValue { $0.answer = answer }
        case .body(var bytes):
            let fits = state.withLockedValue { state in
                guard let held = state.answer?.body.readableBytes, held + bytes.readableBytes <= limit else {
                    return false
                }
                state.answer?.body.writeBuffer(&bytes)
                return true
            }
            if !fits {
                context.fireErrorCaught(HTTPFault.tooLarge)
                context.close(promise: nil)
            }
        case .end:
            let answer = state.withLockedValue { state in
                let answer = state.answer
                state.answer = nil
                if answer != nil { state.answersWaiting += 1 }
                return answer
            }
            if let answer { context.fireChannelRead(wrapInboundOut(answer)) }
        }
    }
}
