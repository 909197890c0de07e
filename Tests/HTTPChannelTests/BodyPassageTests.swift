import HTTPChannel
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import TestSupport
import Testing

@Suite("A way past the channel for long bodies", .timeLimit(.minutes(1)))
struct BodyPassageTests {
    /// A way past the HTTP handlers of a channel. It decides the outcome of each sending.
    private final class Way: Sendable {
        private let outcomes: NIOLockedValueBox<[BodyPassage.Outcome]>
        private let waiting = NIOLockedValueBox<[ByteBuffer]>([])
        let passed = Recorder<Int>()
        let closed = Recorder<Void>()

        /// - Parameter outcomes: outcomes of the sendings in order. All later sendings succeed.
        init(_ outcomes: [BodyPassage.Outcome] = []) {
            self.outcomes = NIOLockedValueBox(outcomes)
        }

        @Sendable func passage(_ channel: any Channel) -> BodyPassage {
            BodyPassage {
                { buffers in
                    switch self.outcomes.withLockedValue({ $0.isEmpty ? .sent : $0.removeFirst() }) {
                    case .over:
                        return .over
                    case .left:
                        self.waiting.withLockedValue { $0 += buffers }
                        return .left
                    case .sent:
                        self.passed.record(buffers.map(\.readableBytes).reduce(0, +))
                        try? Self.write(buffers, channel).wait()
                        return .sent
                    }
                }
            } close: {
                self.closed.record(())
                let buffers = self.waiting.withLockedValue { buffers in
                    defer { buffers = [] }
                    return buffers
                }
                return Self.write(buffers, channel)
            }
        }

        private static func write(_ buffers: [ByteBuffer], _ channel: any Channel) -> EventLoopFuture<Void> {
            channel.eventLoop.flatSubmit {
                guard let context = try? channel.pipeline.syncOperations.context(handlerType: SilenceWatch.self) else {
                    return channel.eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel)
                }
                for buffer in buffers { context.write(NIOAny(buffer), promise: nil) }
                let written = context.eventLoop.makePromise(of: Void.self)
                context.writeAndFlush(NIOAny(ByteBuffer()), promise: written)
                return written.futureResult
            }
        }
    }

    private static let pieces = (1...12).map { number in String(repeating: "\(number),", count: number * 100) }

    /// Uploads all pieces, including an empty one.
    /// - Returns: the text that the server received.
    private func upload(by way: Way) async throws -> String {
        try await LoopbackServer.run(respond: echo) { server in
            try await server.client(passage: way.passage) { client in
                var rest = Self.pieces[...]
                rest.insert("", at: 7)
                let answer = try await client.upload("/c", contentType: "application/x", patience: .seconds(60)) {
                    rest.popFirst().map { ByteBuffer(string: $0) }
                }
                return String(buffer: answer.body)
            }
        }
    }

    private let whole = "/c " + pieces.joined()

    @Test("all but the first pieces of a body go past the channel, as chunks like those that go through it")
    func passed() async throws {
        let way = Way()
        #expect(try await upload(by: way) == whole)
        let chunks = Self.pieces.dropFirst(2).map { $0.utf8.count + String($0.utf8.count, radix: 16).utf8.count + 4 }
        #expect(way.passed.all == Array(chunks))
    }

    @Test("bytes that were taken and not sent leave before the next piece")
    func left() async throws {
        let way = Way([.sent, .left, .over, .sent, .left, .sent])
        #expect(try await upload(by: way) == whole)
        #expect(way.closed.all.count == 2)
    }

    @Test("a piece that the way past the channel does not take goes through it")
    func over() async throws {
        let way = Way([.over, .sent, .over, .over])
        #expect(try await upload(by: way) == whole)
        #expect(!way.passed.all.isEmpty)
    }

    @Test("an answer ends a body that goes past the channel")
    func answered() async throws {
        let way = Way()
        try await LoopbackServer.run { exchange in
            try await exchange.respondAndClose(.badRequest, text: "no")
        } _: { server in
            try await server.client(passage: way.passage) { client in
                let piece = ByteBuffer(repeating: 7, count: 10_000)
                let answer = try await client.upload("/c", contentType: "application/x", patience: .seconds(60)) {
                    piece
                }
                #expect(answer.status == .badRequest)
            }
        }
    }
}
