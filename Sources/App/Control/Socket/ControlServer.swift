import Foundation
import Glibc
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

/// The right to be the one receiver of a run folder: a lock on a file beside the socket. It is released with the last
/// reference or, by the kernel, at any end of the process.
///
/// A connection attempt alone cannot decide it: if two receivers start at the same moment, neither finds the other, and
/// the second takes the socket of the first.
final class ControlLock: Sendable {
    private let descriptor: Int32

    /// A second in all, in microseconds each.
    private static let tries = 50
    private static let pause: UInt32 = 20_000

    /// - Throws: `alreadyRunning` where another process, or another server of this one, has it.
    init(beside socket: ControlSocket) throws(ControlError) {
        let path = socket.path + ".lock"
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw .broken(
                "the lock of the control socket, \(path), cannot be made: \(String(cString: strerror(errno)))")
        }
        // A process that was just killed may not have ended: the kernel releases its lock at its end. A starting
        // receiver does nothing else, so its thread may wait.
        var triesLeft = Self.tries
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK, triesLeft > 0 {
            triesLeft -= 1
            usleep(Self.pause)
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            // `deinit` closes it.
            let error = errno
            if error == EWOULDBLOCK { throw .alreadyRunning(socket.path) }
            throw .broken("the control socket cannot be locked: \(String(cString: strerror(error)))")
        }
    }

    deinit {
        // The file stays: removing it would let a third one lock another file of the same name.
        close(descriptor)
    }
}

/// A control socket that the service manager has opened: the rules for Waft's own hold for it too.
struct PassedControlSocket {
    /// Where clients find it; nil if it has no path.
    let path: String?
    /// Why it must not be used; nil if it may.
    let fault: String?

    /// - Parameter descriptor: of a listening Unix socket.
    init(_ descriptor: Int32, for socket: ControlSocket) {
        path = Self.path(of: descriptor)
        fault =
            path != socket.path
            ? "commands look for it at \(socket.path)"
            : Self.fault(socket.path, S_IFSOCK, allowed: 0o600)
                ?? Self.fault(SmallFile.folder(of: socket.path), S_IFDIR, allowed: 0o700)
    }

    private static func fault(_ path: String, _ kind: mode_t, allowed: mode_t) -> String? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == kind else { return "\(path) is something else" }
        guard status.st_uid == geteuid() else { return "\(path) belongs to another user" }
        let mode = status.st_mode & 0o777
        return mode & ~allowed == 0
            ? nil : "\(path) has the mode \(String(mode, radix: 8)), not \(String(allowed, radix: 8))"
    }

    private static func path(of descriptor: Int32) -> String? {
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let outcome = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard outcome == 0, address.sun_family == sa_family_t(AF_UNIX) else { return nil }
        let bytes = withUnsafeBytes(of: &address.sun_path) { Array($0.prefix { $0 != 0 }) }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }
}
