package import NIOCore
import NIOPosix

/// The command line's end of the control socket.
package enum ControlClient {
    /// Bytes of one reply: a hundred offers with a hundred items each.
    private static let replyBytes = 16 << 20

    /// One request on a connection of its own.
    /// - Parameter timeout: how long a receiver may take to answer.
    /// - Throws: `ControlError`; `notRunning` if no receiver listens.
    package static func ask(
        _ request: ControlRequest,
        at socket: ControlSocket,
        on group: any EventLoopGroup,
        timeout: Duration = .seconds(10)
    ) async throws(ControlError) -> ControlReply {
        try await ControlConnection(socket, on: group).ask(request, timeout: timeout)
    }

    /// Whether a receiver accepts connections there.
    static func somebodyListens(_ socket: ControlSocket, on group: any EventLoopGroup) async -> Bool {
        guard let channel = await connect(socket, on: group) else { return false }
        try? await channel.executeThenClose { _, _ in }
        return true
    }

    static func connect(
        _ socket: ControlSocket,
        on group: any EventLoopGroup
    ) async -> NIOAsyncChannel<ByteBuffer, ByteBuffer>? {
        try? await ClientBootstrap(group: group).connect(unixDomainSocketPath: socket.path) { channel in
            channel.eventLoop.makeCompletedFuture {
                try LineDecoder.wrap(channel, limit: replyBytes)
            }
        }
    }

    /// The secret and the request. Call this once connected: only then is the secret that of the receiver that listens.
    static func opening(with request: ControlRequest, at socket: ControlSocket) async throws -> ByteBuffer {
        var opening = try await ControlSecret.awaitedLine(for: socket)
        opening.writeImmutableBuffer(try ControlCoding.line(request))
        return opening
    }

    static func reply(in line: ByteBuffer?) throws(ControlError) -> ControlReply {
        guard let line else { throw .broken("the receiver closed the control connection without an answer") }
        let reply: ControlReply
        switch ControlCoding.read(ControlReply.self, in: line) {
        case .message(let message): reply = message
        case .otherVersion: throw .otherVersion
        case .unknown, .nonsense: throw .broken("the receiver's answer cannot be understood")
        }
        if case .denied(let reason) = reply { throw .denied(reason) }
        return reply
    }
}
