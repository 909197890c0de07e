import NIOCore
import NIOPosix

/// A connection whose guest need not keep the protocol.
struct RawGuest {
    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator

    static func run<Result: Sendable>(
        _ port: Int, _ body: (inout RawGuest) async throws -> Result
    ) async throws -> Result {
        let connection = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await connection.executeThenClose { inbound, outbound in
            var guest = RawGuest(outbound: outbound, inbound: inbound.makeAsyncIterator())
            return try await body(&guest)
        }
    }

    func write(_ text: String) async throws { try await outbound.write(ByteBuffer(string: text)) }

    /// Reads until `mark` has come.
    /// - Returns: the text so far. `mark` is missing in it if the connection ended first.
    mutating func read(until mark: String) async throws -> String {
        var text = ""
        while !text.contains(mark), let bytes = try await inbound.next() { text += String(buffer: bytes) }
        return text
    }

    /// Reads all that comes until the other side closes.
    mutating func readToEnd() async throws -> String {
        var text = ""
        while let bytes = try? await inbound.next() { text += String(buffer: bytes) }
        return text
    }
}
