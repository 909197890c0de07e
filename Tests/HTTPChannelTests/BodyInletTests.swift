import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import NIOHTTP1
import TestSupport
import Testing

@testable import HTTPChannel

@Suite("A way past the channel for long bodies that come", .timeLimit(.minutes(1)))
struct BodyInletTests {
    /// The bottom of a channel. Its bytes can be read past the channel.
    private final class Bottom: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer
        typealias InboundOut = ByteBuffer

        private struct Diverted {
            var isOpen = false
            var buffers: [ByteBuffer] = []
            var turns = 0
        }

        private let diverted = NIOLockedValueBox(Diverted())
        /// Number of receptions after which a loan ends.
        private let turns: Int
        private let mayOpen: Bool
        let opened = Recorder<Void>()
        let passed = Recorder<Int>()
        let closed = Recorder<Void>()

        init(turns: Int, mayOpen: Bool = true) { (self.turns, self.mayOpen) = (turns, mayOpen) }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let bytes = Self.unwrapInboundIn(data)
            let isDiverted = diverted.withLockedValue { diverted in
                if diverted.isOpen { diverted.buffers.append(bytes) }
                return diverted.isOpen
            }
            if !isDiverted { context.fireChannelRead(data) }
        }

        func inlet(_ channel: any Channel) -> BodyInlet {
            BodyInlet { [self] in
                opened.record(())
                guard mayOpen else { return nil }
                diverted.withLockedValue { $0 = Diverted(isOpen: true) }
                return { [self] in
                    // An empty queue ends the loan, as a long silence would.
                    let next = diverted.withLockedValue { diverted -> ByteBuffer? in
                        guard diverted.turns < turns, !diverted.buffers.isEmpty else { return nil }
                        diverted.turns += 1
                        return diverted.buffers.removeFirst()
                    }
                    if let next { passed.record(next.readableBytes) }
                    return next
                }
            } close: { [self] in
                closed.record(())
                let rest = diverted.withLockedValue { diverted in
                    defer { diverted = Diverted() }
                    return diverted.buffers
                }
                guard let context = try? channel.pipeline.syncOperations.context(handlerType: Bottom.self) else {
                    return
                }
                for bytes in rest { context.fireChannelRead(NIOAny(bytes)) }
                context.fireChannelReadComplete()
            }
        }
    }

    /// A body in chunks that all differ.
    private func body(_ sizes: [Int]) -> (contents: String, chunked: String) {
        let chunks = sizes.enumerated().map { number, size in
            String(repeating: "chunk \(number) of them, ", count: size / 8 + 1).prefix(size)
        }
        let chunked = chunks.map { "\(String($0.utf8.count, radix: 16))\r\n\($0)\r\n" }.joined()
        return (chunks.joined(), chunked + "0\r\n\r\n")
    }

    private func serve(
        _ bottom: Bottom, _ body: @Sendable (BareConnection) async throws -> Void
    ) async throws {
        try await LoopbackServer.run(
            inlet: { channel in
                try channel.pipeline.syncOperations.addHandler(bottom)
                return bottom.inlet(channel)
            }, respond: echo
        ) { server in
            try await server.bare(body)
        }
    }

    private static let post = " HTTP/1.1\r\nhost: waft\r\ntransfer-encoding: chunked\r\n\r\n"

    @Test("a body is the same wherever its bytes come by", arguments: [0, 1, 3, 1_000], [9_973, 65_536])
    func same(turns: Int, piece: Int) async throws {
        let bottom = Bottom(turns: turns)
        let (contents, chunked) = body([70_000, 1, 131_063, 90_000, 16, 60_000, 5, 4_096, 50_000])
        try await serve(bottom) { connection in
            let request = Array(("POST /long" + Self.post + chunked).utf8)
            for start in stride(from: 0, to: request.count, by: piece) {
                try await connection.send(Array(request[start..<min(start + piece, request.count)]))
            }
            _ = try await connection.receive(through: contents)
            // The connection remains usable.
            try await connection.send("POST /next" + Self.post + "2\r\nhi\r\n0\r\n\r\n")
            _ = try await connection.receive(through: "/next hi")
        }
        #expect(bottom.opened.count > 0)
        #expect(bottom.closed.count == bottom.opened.count)
    }

    @Test("without a way past the channel the whole body comes through it")
    func closed() async throws {
        let bottom = Bottom(turns: 5, mayOpen: false)
        let (contents, chunked) = body([200_000, 200_000, 200_000])
        try await serve(bottom) { connection in
            try await connection.send("POST /long" + Self.post + chunked)
            _ = try await connection.receive(through: contents)
        }
        #expect(bottom.opened.count > 0)
        #expect(bottom.passed.all.isEmpty)
    }

    @Test("a complete body goes through the channel if there is no way past it")
    func atOnce() throws {
        let tap = BodyTap(BodyInlet(open: { nil }, close: {}))
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandlers(
            tap, ByteToMessageHandler(HTTPRequestDecoder()), tap.makeParts())
        let (contents, chunked) = body([150_000, 150_000, 150_000, 150_000])
        try channel.writeInbound(ByteBuffer(string: "POST /long" + Self.post + chunked))
        var received = ""
        while let part = try channel.readInbound(as: HTTPServerRequestPart.self) {
            if case .body(let bytes) = part { received += String(buffer: bytes) }
            if case .end = part { received += " end" }
        }
        #expect(received == contents + " end")
        _ = try channel.finish()
    }

    @Test(
        "received bytes of a body are not lost when the connection ends during reading past the channel",
        arguments: [true, false])
    func endedMeanwhile(whole: Bool) async throws {
        let tap = BodyTap(BodyInlet(open: { { nil } }, close: {}))
        let channel = EmbeddedChannel()
        let desk = tap.desk(channel.eventLoop)
        try channel.pipeline.syncOperations.addHandlers(
            tap, ByteToMessageHandler(HTTPRequestDecoder()), tap.makeParts())
        let (contents, chunked) = body([150_000, 150_000, 30])
        let stream = Array(("POST /long" + Self.post + chunked).utf8.dropLast(whole ? 0 : 1))
        try channel.writeInbound(ByteBuffer(bytes: stream[..<200_000]))
        var lent = try #require(desk.take())
        var received = 0
        while let part = try channel.readInbound(as: HTTPServerRequestPart.self) {
            if case .body(let bytes) = part { received += bytes.readableBytes }
        }
        while let bytes = lent.next() { received += bytes.readableBytes }
        #expect(!lent.hasEnded)
        // No reader has asked for the bytes before the end.
        try channel.writeInbound(ByteBuffer(bytes: stream[200_000...]))
        // The decoder may report an error for a body that ends here.
        _ = try? channel.finish()
        var rest = try #require(tap.takeBack(lent))
        while let bytes = rest.next() { received += bytes.readableBytes }
        #expect(received == contents.utf8.count)
        #expect(rest.hasEnded == whole)
        #expect(tap.takeBack(rest) == nil, "there is no more")
    }

    @Test("a short body, and a body with a content length, come through the channel", arguments: [true, false])
    func short(chunked: Bool) async throws {
        let bottom = Bottom(turns: 1_000)
        let (contents, body) = body(chunked ? [60_000, 60_000] : [600_000])
        try await serve(bottom) { connection in
            if chunked {
                try await connection.send("POST /short" + Self.post + body)
            } else {
                try await connection.send(
                    "POST /said HTTP/1.1\r\ncontent-length: \(contents.utf8.count)\r\n\r\n" + contents)
            }
            _ = try await connection.receive(through: contents)
        }
        #expect(bottom.opened.all.isEmpty)
    }

    @Test("requests sent without waiting are answered in order, with long bodies among them")
    func pipelined() async throws {
        let bottom = Bottom(turns: 3)
        let (contents, chunked) = body([140_000, 140_000, 3, 140_000])
        try await serve(bottom) { connection in
            let requests = (0..<6).map { number in
                number.isMultiple(of: 2)
                    ? "POST /\(number) HTTP/1.1\r\ncontent-length: 4\r\n\r\n\r\n\r\n"
                    : "POST /\(number)" + Self.post + chunked
            }
            let stream = Array(requests.joined().utf8)
            // Cuts the stream at many positions.
            for start in stride(from: 0, to: stream.count, by: 9_973) {
                try await connection.send(Array(stream[start..<min(start + 9_973, stream.count)]))
            }
            for number in 0..<6 {
                _ = try await connection.receive(
                    through: "/\(number) " + (number.isMultiple(of: 2) ? "\r\n\r\n" : contents))
            }
        }
    }

    @Test("a chunk that is longer than it says ends the connection, also past the channel", arguments: [-1, 0, 3])
    func malformed(turns: Int) async throws {
        let bottom = Bottom(turns: turns, mayOpen: turns >= 0)
        let (_, chunked) = body([140_000, 100_000])
        try await serve(bottom) { connection in
            let honest = String(decoding: chunked.utf8.dropLast(5), as: UTF8.self)
            try await connection.send("POST /long" + Self.post + honest + "3\r\nabcd\r\n0\r\n\r\n")
            #expect(await connection.receiveToEnd().hasPrefix("HTTP/1.1 400 "))
        }
    }
}
