import Digests
import HTTPChannel
import Logging
import NIOCore
import NIOPosix
import SecureTransport
import Sharing

@testable import WaftDialect

/// TLS connections on loopback: contents leave HTTP, which is possible on such connections only.
enum SecureLoopback {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    private static let profile = TLSProfile(applicationProtocols: [WaftDialect.alpn])
    private static let identity = Result { try Identity.make() }

    static func listen() async throws -> SecureListener {
        try await SecureListener.bind(
            .init(host: "127.0.0.1", identity: try identity.get(), profile: profile), group: .singleton, logger: logger)
    }

    /// Calls `body` with a client of HTTP.
    static func http<Result: Sendable>(
        _ port: Int, _ body: (HTTPClient) async throws -> sending Result
    ) async throws -> Result {
        let connection = try await dial(port) { try HTTPClient.configure($0, answerLimit: Limits.offerBytes) }
        return try await HTTPClient.run(connection.output, body)
    }

    static func dial<Output: Sendable>(
        _ port: Int, _ configure: @escaping @Sendable (any Channel) throws -> Output
    ) async throws -> SecureConnection<Output> {
        try await SecureDialer(identity: try identity.get(), profile: profile, group: .singleton, logger: logger)
            .dial([DialAddress(host: "127.0.0.1", port: port)]) { channel, _ in try configure(channel) }
    }
}

/// Reads an answer to contents as it is.
final class ReplyText: FrameSink {
    private(set) var fault: TransferError?
    private(set) var text = ByteBuffer()
    private(set) var isComplete = false

    func receive(_ frame: Frame) {
        switch frame {
        case .cancel(let why): fault = why
        case .end: isComplete = true
        default: break
        }
    }

    func receive(data: UnsafeRawBufferPointer) { text.writeBytes(data) }

    /// Reads to the end of the answer, or of the connection.
    static func read(from stream: SecureStream) -> ReplyText {
        let reply = ReplyText()
        var decoder = FrameDecoder(digest: .xxh3_128)
        while !reply.isComplete, let bytes = try? stream.receive(within: PeerTimeout(.seconds(60))) {
            try? decoder.decode(bytes, into: reply)
        }
        return reply
    }
}
