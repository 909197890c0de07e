import Foundation
package import Logging
package import NIOCore
import NIOPosix

/// The daemon's end of the control socket: 0600 in a 0700 folder, and only this user may speak (security rule 13).
package struct ControlServer: Sendable {
    /// Bytes of one request; the longest is a few hundred.
    private static let requestBytes = 64 << 10
    private static let connections = 32

    private typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>

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
    /// - Parameter events: what `watch` shows.
    package func run(
        events: EventFeed = EventFeed(),
        answer: @escaping @Sendable (ControlRequest) async -> ControlReply
    ) async {
        // Nothing below refers to the listener as such, whose end would be the end of the socket.
        defer { withExtendedLifetime(listener) { _ = unlink(socket.path) } }
        try? await withThrowingDiscardingTaskGroup { group in
            let seats = Seats(Self.connections)
            try await listener.channel.executeThenClose { inbound in
                for try await connection in inbound {
                    let channel = connection.channel
                    guard let seat = seats.take(leave: { channel.close(promise: nil) }) else {
                        // One too many: it hears nothing, and comes again.
                        channel.close(promise: nil)
                        continue
                    }
                    group.addTask {
                        await serve(connection, seat, events, answer)
                        seat.giveBack()
                    }
                }
            }
        }
    }

    private func serve(
        _ connection: Connection,
        _ seat: Seat,
        _ events: EventFeed,
        _ answer: @Sendable (ControlRequest) async -> ControlReply
    ) async {
        do {
            try await connection.executeThenClose { inbound, outbound in
                let user = try await Self.user(of: connection.channel)
                guard user == geteuid() else {
                    logger.warning("another user spoke to the control socket", metadata: ["uid": "\(user)"])
                    return
                }
                var lines = inbound.makeAsyncIterator()
                while let line = try await lines.next() {
                    seat.setBusy(true)
                    let reply: ControlReply
                    switch ControlCoding.read(ControlRequest.self, in: line) {
                    case .message(.watch):
                        if let watching = watch(events, connection.channel) {
                            return try await show(watching, outbound, connection.channel, until: &lines)
                        }
                        reply = .refused("too many commands watch this receiver already")
                    case .message(let request): reply = await answer(request)
                    case .otherVersion(let version): reply = .refused(Self.otherVersion(version))
                    case .unknown, .nonsense:
                        reply = .refused("the receiver does not know this request; is it older than this command?")
                    }
                    // From here on it is up to the other side.
                    seat.setBusy(false)
                    try await outbound.write(ControlCoding.line(reply))
                }
            }
        } catch {
            logger.debug("a control connection broke off", metadata: ["error": "\(error)"])
        }
    }

    private static func otherVersion(_ version: Int) -> String {
        "the receiver was asked in version \(version) of its control protocol, which it does not speak; "
            + "is it older than this command?"
    }

    private func watch(_ events: EventFeed, _ channel: any Channel) -> Watching? {
        events.watch { [logger] in
            logger.notice("a command that watches does not read what it is told, and was dropped")
            channel.close(promise: nil)
        }
    }

    /// Writes events until either side goes.
    private func show(
        _ watching: Watching,
        _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>,
        _ channel: any Channel,
        until lines: inout NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    ) async throws {
        defer { watching.leave() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                // Whatever ends this ends the reading below.
                defer { channel.close(promise: nil) }
                try await outbound.write(ControlCoding.line(ControlReply.watching))
                for await line in watching.lines {
                    try await outbound.write(line)
                    watching.written(line)
                }
            }
            defer { group.cancelAll() }
            // What it says is passed over; that it says nothing more is its end.
            while try await lines.next() != nil {}
        }
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
