import NIOCore
import NIOPosix

/// A connection whose sender need not keep the protocol.
struct RawSender {
    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator

    static func run<Result: Sendable>(
        _ port: Int, _ body: (inout RawSender) async throws -> Result
    ) async throws -> Result {
        let connection = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await connection.executeThenClose { inbound, outbound in
            var sender = RawSender(outbound: outbound, inbound: inbound.makeAsyncIterator())
            return try await body(&sender)
        }
    }

    func write(_ text: String) async throws { try await outbound.write(ByteBuffer(string: text)) }

    /// Sends the head of a request, and no body.
    func begin(_ path: String, _ length: String) async throws {
        try await write("POST /api/localsend/v2/\(path) HTTP/1.1\r\nhost: x\r\n\(length)\r\n\r\n")
    }

    /// Reads until the other side has answered.
    /// - Returns: the status; nil if it has closed the connection.
    mutating func status() async throws -> Int? {
        var text = ""
        while let bytes = try await inbound.next() {
            text += String(buffer: bytes)
            if text.contains("\r\n") { return Int(text.dropFirst("HTTP/1.1 ".count).prefix(3)) }
        }
        return nil
    }
}
