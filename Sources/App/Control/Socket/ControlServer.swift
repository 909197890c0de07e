import Foundation
package import Logging
import NIOConcurrencyHelpers
package import NIOCore
import NIOPosix
import Sharing
import SystemCalls

/// The daemon's end of the control socket: 0600 in a 0700 folder. Only this user's own programs may command, and no
/// handler, although it has the same uid (security rules 13 and 17).
package struct ControlServer: Sendable {
    /// Bytes of one request; the longest has an annotation of 16 KiB, whose escapes are six times as long.
    private static let requestBytes = 128 << 10
    private static let connections = 32
    /// Connections that have not sent the secret yet. They have places of their own and take none of the others'.
    private static let unproved = 32

    private typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    private let listener: Listener
    private let socket: ControlSocket
    private let secret: ControlSecret
    private let proofTimeout: Duration
    private let refusals = NIOLockedValueBox(LogRateLimiter(interval: .seconds(60)))
    private let logger: Logger

    /// Binds the socket, and replaces one that a crash left behind.
    ///
    /// - Parameter passed: a socket that the service manager has opened, which stays the caller's; it is used if only
    ///   this user can reach it at the path where commands look, and is passed over with a warning if not.
    /// - Parameter proofTimeout: how long a connection may stay open without sending the secret.
    /// - Throws: `ControlError.alreadyRunning` if a receiver answers there; `broken` if the socket cannot be bound.
    package static func bind(
        _ socket: ControlSocket,
        passed: Int32? = nil,
        on group: any EventLoopGroup,
        proofTimeout: Duration = .seconds(5),
        logger: Logger
    ) async throws(ControlError) -> ControlServer {
        let lock = try ControlLock(beside: socket)
        let given = passed.map { PassedControlSocket($0, for: socket) }
        if let fault = given?.fault {
            logger.warning("the passed control socket is not used", metadata: ["reason": "\(fault)"])
        }
        let used = given?.fault == nil ? passed : nil
        // A connection to a passed socket waits for this process.
        if given?.path != socket.path, await ControlClient.somebodyListens(socket, on: group) {
            throw .alreadyRunning(socket.path)
        }
        if used == nil { unlink(socket.path) }
        // No other user can connect between bind and chmod: the folder is 0700, and the uid is checked as well.
        do {
            let secret = try ControlSecret.make(for: socket)
            let bootstrap = ServerBootstrap(group: group)
            let listener: NIOAsyncChannel<Connection, Never>
            if let used {
                let copy = try FileDescriptor.copy(of: used)
                listener = try await bootstrap.bind(copy.release(), childChannelInitializer: wrap)
            } else {
                listener = try await bootstrap.bind(unixDomainSocketPath: socket.path, childChannelInitializer: wrap)
                chmod(socket.path, 0o600)
            }
            let owner = Listener(owning: listener, socket: socket, lock: lock, removesSocket: used == nil)
            return ControlServer(
                listener: owner, socket: socket, secret: secret, proofTimeout: proofTimeout, logger: logger)
        } catch {
            throw .broken("the control socket \(socket.path) cannot be made: \(error)")
        }
    }

    private static func wrap(_ channel: any Channel) -> EventLoopFuture<Connection> {
        channel.eventLoop.makeCompletedFuture { try LineDecoder.wrap(channel, limit: requestBytes) }
    }

    /// Answers requests until the task is cancelled; then the socket is gone.
    /// - Parameter events: what `watch` shows.
    package func run(
        events: EventFeed = EventFeed(),
        answer: @escaping @Sendable (ControlRequest) async -> ControlReply
    ) async {
        // Nothing below refers to the listener as such, whose end would be the end of the socket.
        defer { withExtendedLifetime(listener) { listener.removeFiles() } }
        try? await withThrowingDiscardingTaskGroup { group in
            let (lobby, seats) = (Seats(Self.unproved), Seats(Self.connections))
            try await listener.channel.executeThenClose { inbound in
                for try await connection in inbound {
                    let channel = connection.channel
                    // Never nil: connections in the lobby are idle, so the one idle longest is evicted.
                    guard let place = lobby.take(leave: { channel.close(promise: nil) }) else { continue }
                    group.addTask { await receive(connection, place, seats, events, answer) }
                }
            }
        }
    }

    /// Checks the caller and its secret, and serves the user's own programs.
    private func receive(
        _ connection: Connection,
        _ place: Seat,
        _ seats: Seats,
        _ events: EventFeed,
        _ answer: @Sendable (ControlRequest) async -> ControlReply
    ) async {
        let channel = connection.channel
        do {
            try await connection.executeThenClose { inbound, outbound in
                var lines = inbound.makeAsyncIterator()
                let refusal: String?
                do {
                    defer { place.giveBack() }
                    let caller = try await Caller.of(channel)
                    guard caller.user == geteuid() else {
                        return sayRefusal("another user's", ["uid": "\(caller.user)"])
                    }
                    let end = channel.eventLoop.scheduleTask(in: TimeAmount(proofTimeout)) {
                        channel.close(promise: nil)
                    }
                    defer { end.cancel() }
                    guard let proof = try await lines.next() else { return }
                    refusal =
                        secret.matches(proof)
                        ? caller.refusal : "this program did not show the secret of the control socket"
                }
                if let refusal {
                    sayRefusal(refusal, [:])
                    return try await outbound.write(ControlCoding.line(ControlReply.denied(refusal)))
                }
                // All seats are busy: the connection ends without an answer, and the client has to retry.
                guard let seat = seats.take(leave: { channel.close(promise: nil) }) else { return }
                defer { seat.giveBack() }
                try await serve(&lines, outbound, channel, seat, events, answer)
            }
        } catch {
            logger.debug("a control connection broke off", metadata: ["error": "\(error)"])
        }
    }

    /// Logs at most one refusal a minute, so that refused callers cannot fill the log.
    private func sayRefusal(_ reason: String, _ facts: Logger.Metadata) {
        guard refusals.withLockedValue({ $0.mayBeSaid(now: .now) }) else { return }
        logger.warning(
            "a command was refused at the control socket", metadata: facts.merging(["reason": "\(reason)"]) { $1 })
    }

    private func serve(
        _ lines: inout NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator,
        _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>,
        _ channel: any Channel,
        _ seat: Seat,
        _ events: EventFeed,
        _ answer: @Sendable (ControlRequest) async -> ControlReply
    ) async throws {
        while let line = try await lines.next() {
            seat.setBusy(true)
            let reply: ControlReply
            switch ControlCoding.read(ControlRequest.self, in: line) {
            case .message(.watch):
                if let watching = watch(events, channel) {
                    return try await show(watching, outbound, channel, until: &lines)
                }
                reply = .refused("too many commands watch this receiver already")
            case .message(let request):
                // Nobody else reads this line any more.
                if request.isSecret { line.wipe() }
                reply = await answer(request)
            case .otherVersion(let version): reply = .refused(Self.otherVersion(version))
            case .unknown, .nonsense:
                reply = .refused("the receiver does not know this request; is it older than this command?")
            }
            // Idle from here on: a client that does not read its reply may be evicted.
            seat.setBusy(false)
            try await outbound.write(ControlCoding.line(reply))
        }
    }

    private static func otherVersion(_ version: Int) -> String {
        "the receiver was asked in version \(version) of its control protocol, which it does not speak; "
            + "is it older than this command?"
    }

    private func watch(_ events: EventFeed, _ channel: any Channel) -> Watching? {
        events.watch { [logger] in
            logger.notice("a watching command did not read its events, and was dropped")
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
                // Every end of this task also ends the reading below.
                defer { channel.close(promise: nil) }
                try await outbound.write(ControlCoding.line(ControlReply.watching))
                for await line in watching.lines {
                    try await outbound.write(line)
                    watching.written(line)
                }
            }
            defer { group.cancelAll() }
            // Further lines are ignored. The end of the lines ends the watching.
            while try await lines.next() != nil {}
        }
    }
}

/// The bound socket, whether it is ever served or not: closed and gone with its last reference.
private final class Listener: Sendable {
    let channel: NIOAsyncChannel<NIOAsyncChannel<ByteBuffer, ByteBuffer>, Never>
    private let socket: ControlSocket
    private let lock: ControlLock
    /// Not for a passed socket, on which the next receiver listens.
    private let removesSocket: Bool

    init(
        owning channel: NIOAsyncChannel<NIOAsyncChannel<ByteBuffer, ByteBuffer>, Never>,
        socket: ControlSocket,
        lock: ControlLock,
        removesSocket: Bool
    ) {
        self.removesSocket = removesSocket
        self.channel = channel
        self.socket = socket
        self.lock = lock
        channel.keepUntilClosed()
    }

    deinit {
        channel.channel.close(promise: nil)
        removeFiles()
    }

    func removeFiles() {
        if removesSocket { unlink(socket.path) }
        ControlSecret.remove(for: socket)
    }
}
