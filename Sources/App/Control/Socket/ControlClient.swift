package import NIOCore
import NIOPosix

/// The command line's end of the control socket: one request on a connection of its own.
package enum ControlClient {
    /// Bytes of one reply: a hundred offers with a hundred items each.
    private static let replyBytes = 16 << 20

    /// - Parameter timeout: how long a receiver may take to answer.
    /// - Throws: `ControlError`; `notRunning` if no receiver listens.
    package static func ask(
        _ request: ControlRequest,
        at socket: ControlSocket,
        on group: any EventLoopGroup,
        timeout: Duration = .seconds(10)
    ) async throws(ControlError) -> ControlReply {
        let secret = try? ControlSecret.line(for: socket)
        do {
            return try await askOnce(request, at: socket, on: group, timeout: timeout)
        } catch {
            // Behind a passed socket an earlier receiver's secret may have been read before the new one was made.
            guard error.code == .denied, let new = try? ControlSecret.line(for: socket), new != secret else {
                throw error
            }
            return try await askOnce(request, at: socket, on: group, timeout: timeout)
        }
    }

    private static func askOnce(
        _ request: ControlRequest,
        at socket: ControlSocket,
        on group: any EventLoopGroup,
        timeout: Duration
    ) async throws(ControlError) -> ControlReply {
        guard let channel = await connect(socket, on: group) else { throw .notRunning(socket.path) }
        do {
            return try await withThrowingTaskGroup(of: ControlReply.self) { tasks in
                tasks.addTask { try await exchange(request, at: socket, over: channel) }
                tasks.addTask {
                    try await Task.sleep(for: timeout)
                    throw ControlError.broken("the receiver does not answer on its control socket")
                }
                defer { tasks.cancelAll() }
                guard let reply = try await tasks.next() else { throw CancellationError() }
                return reply
            }
        } catch let error as ControlError {
            throw error
        } catch {
            throw .broken("the receiver's answer could not be read: \(error)")
        }
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

    private static func exchange(
        _ request: ControlRequest,
        at socket: ControlSocket,
        over channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>
    ) async throws -> ControlReply {
        try await channel.executeThenClose { inbound, outbound in
            try await outbound.write(await opening(with: request, at: socket))
            var lines = inbound.makeAsyncIterator()
            return try reply(in: try await lines.next())
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
        guard case .message(let reply) = ControlCoding.read(ControlReply.self, in: line) else {
            throw .broken("the receiver's answer cannot be understood; are both of the same version?")
        }
        if case .denied(let reason) = reply { throw .denied(reason) }
        return reply
    }
}
