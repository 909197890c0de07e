import Foundation
package import Logging
package import NIOCore
import NIOPosix

/// The daemon's end of the control socket: 0600 in a 0700 folder, and only this user may speak (security rule 13).
package struct ControlServer: Sendable {
    /// Bytes of one request; the longest is a few hundred.
    private static let requestBytes = 64 << 10
    private static let connections = 32

    private let listener: Listener
    private let socket: ControlSocket
    private let logger: Logger

    /// Binds the socket, taking the place of one that a crash left behind.
    ///
    /// - Throws: `ControlError.alreadyRunning` when somebody answers there; `broken` when it cannot be bound.
    package static func bind(
        _ socket: ControlSocket,
        on group: any EventLoopGroup,
        logger: Logger
    ) async throws(ControlError) -> ControlServer {
        let lock = try ControlLock(beside: socket)
        if await ControlClient.somebodyListens(socket, on: group) { throw .alreadyRunning(socket.path) }
        unlink(socket.path)
        // Nobody may connect between bind and chmod: the folder is 0700, and the uid is checked besides.
        do {
            let listener = try await ServerBootstrap(group: group)
                .bind(unixDomainSocketPath: socket.path) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try LineDecoder.wrap(channel, limit: requestBytes)
                    }
                }
            chmod(socket.path, 0o600)
            let owner = Listener(owning: listener, socket: socket, lock: lock)
            return ControlServer(listener: owner, socket: socket, logger: logger)
        } catch {
            throw .broken("the control socket \(socket.path) cannot be made: \(error)")
        }
    }

    /// Answers requests until the task is cancelled; then the socket is gone.
    package func run(answer: @escaping @Sendable (ControlRequest) async -> ControlReply) async {
        // Nothing below refers to the listener as such, whose end would be the end of the socket.
        defer { withExtendedLifetime(listener) { _ = unlink(socket.path) } }
        try? await withThrowingDiscardingTaskGroup { group in
            let places = Places(Self.connections)
            try await listener.channel.executeThenClose { inbound in
                for try await connection in inbound {
                    guard places.take() else {
                        // One too many: it hears nothing, and comes again.
                        connection.channel.close(promise: nil)
                        continue
                    }
                    group.addTask {
                        await serve(connection, answer)
                        places.giveBack()
                    }
                }
            }
        }
    }

    private func serve(
        _ connection: NIOAsyncChannel<ByteBuffer, ByteBuffer>,
        _ answer: @Sendable (ControlRequest) async -> ControlReply
    ) async {
        do {
            try await connection.executeThenClose { inbound, outbound in
                let user = try await Self.user(of: connection.channel)
                guard user == geteuid() else {
                    logger.warning("another user spoke to the control socket", metadata: ["uid": "\(user)"])
                    return
                }
                for try await line in inbound {
                    let reply = await Self.reply(to: line, answer)
                    try await outbound.write(ControlCoding.line(reply))
                }
            }
        } catch {
            logger.debug("a control connection broke off", metadata: ["error": "\(error)"])
        }
    }

    private static func reply(
        to line: ByteBuffer,
        _ answer: @Sendable (ControlRequest) async -> ControlReply
    ) async -> ControlReply {
        guard let request = ControlCoding.message(ControlRequest.self, in: line) else {
            return .refused("the receiver does not know this request; is it older than this command?")
        }
        return await answer(request)
    }

    private static func user(of channel: any Channel) async throws -> UInt32 {
        guard let provider = channel as? any SocketOptionProvider else { throw ControlError.broken("no socket") }
        return try await provider.unsafeGetSocketOption(
            level: SocketOptionLevel(SOL_SOCKET), name: SocketOptionName(SO_PEERCRED)
        ).map { (credentials: PeerCredentials) in credentials.uid }.get()
    }
}

/// The bound socket, whether it is ever served or not: closed and gone with its last reference.
private final class Listener: Sendable {
    let channel: NIOAsyncChannel<NIOAsyncChannel<ByteBuffer, ByteBuffer>, Never>
    private let socket: ControlSocket
    private let lock: ControlLock

    init(
        owning channel: NIOAsyncChannel<NIOAsyncChannel<ByteBuffer, ByteBuffer>, Never>,
        socket: ControlSocket,
        lock: ControlLock
    ) {
        self.channel = channel
        self.socket = socket
        self.lock = lock
        channel.keepUntilClosed()
    }

    deinit {
        channel.channel.close(promise: nil)
        unlink(socket.path)
    }
}

/// `struct ucred` of Linux, which the Glibc module does not show: three 32-bit numbers.
private struct PeerCredentials {
    var pid: Int32
    var uid: UInt32
    var gid: UInt32
}
