internal import Glibc
package import Logging
internal import NIOConcurrencyHelpers
package import NIOCore
package import NIOPosix
package import Sharing

/// Accepts TLS connections, and hands over those whose peers have proved their keys. A dialect that can do without keys and
/// encryption gets its connections by the same gate, with the same limits.
///
/// Before the proof, a connection costs a TLS state and a descriptor. Both are limited: see `TransportLimits`.
package struct SecureListener: Sendable {
    /// Where and how to listen.
    package struct Configuration: Sendable {
        /// An address or name of this machine; nil for all addresses of both families.
        package var host: String?
        /// 0 for any free port.
        package var port: Int
        /// An open listening socket that is used in place of `host` and `port`; the listener works with a copy of the
        /// descriptor. The socket keeps taking connections when the listener has ended.
        package var passed: Int32?
        fileprivate let security: Security
        /// Limits on connections, times and sizes.
        package var limits = TransportLimits()

        package init(host: String? = nil, port: Int = 0, identity: Identity, profile: TLSProfile) {
            (self.host, self.port) = (host, port)
            security = .tls(identity, profile)
        }

        /// With an identity that takes long to make, and that most listeners never need.
        ///
        /// - Parameter makingIdentity: called when the first connection comes, on a thread that may block. If it
        ///   throws, the waiting connections are closed, and the next connection calls it again.
        package init(
            host: String? = nil, port: Int = 0, profile: TLSProfile,
            makingIdentity: @escaping @Sendable () throws -> Identity
        ) {
            (self.host, self.port) = (host, port)
            security = .laterTLS(makingIdentity, profile)
        }

        /// Without encryption: anybody on the way can read and change everything, and each peer is unknown.
        package init(host: String? = nil, port: Int = 0, plainFor dialect: Dialect) {
            (self.host, self.port) = (host, port)
            security = .plain(dialect)
        }

        fileprivate enum Security: Sendable {
            case tls(Identity, TLSProfile)
            /// The identity is made for the first connection.
            case laterTLS(@Sendable () throws -> Identity, TLSProfile)
            case plain(Dialect)
        }
    }

    /// The port that the listener listens on.
    package let port: Int

    /// The address that the listener listens on; `[::]` stands for all addresses of both families.
    package let localAddress: SocketAddress?

    let server: any Channel
    private let gate: ListenerGate
    private let logger: Logger

    /// Binds the port. Connections wait in the kernel until `run`.
    ///
    /// - Throws: `ListenerError`, or `TLSError` if TLS cannot be set up.
    package static func bind(
        _ configuration: Configuration,
        group: MultiThreadedEventLoopGroup,
        logger: Logger
    ) async throws -> SecureListener {
        let gate = ListenerGate(
            try configuration.makeEntry(), limits: configuration.limits, logger: logger)
        let server =
            if let passed = configuration.passed {
                try await gate.bind(passed: passed, group: group)
            } else {
                try await gate.bind(host: configuration.host, port: configuration.port, group: group)
            }
        return SecureListener(server: server, gate: gate, logger: logger)
    }

    private init(server: any Channel, gate: ListenerGate, logger: Logger) {
        self.server = server
        self.gate = gate
        self.logger = logger
        localAddress = server.localAddress
        port = server.localAddress?.port ?? 0
    }

    /// Serves connections until the task is cancelled. Call it once.
    ///
    /// Cancelling the task closes the port and all unfinished connections at once, and cancels the tasks that run
    /// `onConnection`. This returns when those tasks have returned and their connections are closed, each within
    /// `TransportLimits.closeDeadline`.
    ///
    /// - Parameters:
    ///   - isContact: Whether a peer is a contact. Contacts have reserved places, and never make room for strangers. It
    ///     is called on event loops, once for each connection.
    ///   - configurePipeline: Adds the caller's handlers above TLS. It runs on the channel's event loop when the peer
    ///     has proved its key and before the first plaintext is delivered.
    ///   - onConnection: Runs in a task of its own for each connection, even if this task was cancelled meanwhile: no
    ///     result of `configurePipeline` is dropped. The connection is closed after it.
    /// - Throws: `ListenerError` if the listening socket was closed without cancellation or `stopAccepting`.
    package func run<Output: Sendable>(
        isContact: @escaping @Sendable (PeerID) -> Bool = { _ in false },
        configurePipeline: @escaping @Sendable (_ channel: any Channel, _ peerID: PeerID) throws -> Output,
        onConnection: @escaping @Sendable (SecureConnection<Output>) async -> Void
    ) async throws {
        let handover = Handover<SecureConnection<Output>>()
        gate.open(isContact: isContact) { channel, peerID, place in
            guard handover.announce() else { return false }
            do {
                let output = try configurePipeline(channel, peerID)
                let tls = try? channel.tlsHandler()
                handover.give(
                    SecureConnection(
                        channel: channel,
                        output: output,
                        peerID: peerID,
                        certificateFingerprint: tls?.certificateFingerprint,
                        applicationProtocol: tls?.applicationProtocol,
                        remoteAddress: channel.remoteAddress,
                        place: place
                    )
                )
                return true
            } catch {
                handover.withdraw()
                throw error
            }
        }
        server.closeFuture.whenComplete { _ in handover.finish() }
        try await withTaskCancellationHandler {
            // A cancelled task still starts, so that there is only one way of closing.
            try? await server.setOption(.autoRead, value: true).get()
            await withDiscardingTaskGroup { group in
                while let connection = await handover.next() {
                    group.addTask {
                        await connection.channel.hurriedWhenCancelled {
                            await onConnection(connection)
                            await connection.close()
                        }
                    }
                }
            }
            try await server.closeFuture.get()
            if !Task.isCancelled, !gate.isClosed {
                throw ListenerError(host: nil, port: port, cause: ChannelError.alreadyClosed)
            }
        } onCancel: {
            handover.finish()
            gate.close()
            server.close(promise: nil)
        }
    }

    /// Closes the port, and connections whose handshake is not done. Connections that are being served continue; `run`
    /// returns when the last of them has ended.
    package func stopAccepting() async {
        gate.close()
        try? await server.close().get()
    }

    /// Closes the port of a listener that never ran.
    package func close() async {
        gate.close()
        try? await server.close().get()
    }
}

extension SecureListener.Configuration {
    fileprivate func makeEntry() throws(TLSError) -> ListenerGate.Entry {
        switch security {
        case .tls(let identity, let profile): .tls(ListenerContext(try makeContext(identity, profile)))
        case .laterTLS(let make, let profile): .tls(ListenerContext { try makeContext(make(), profile) })
        case .plain(let dialect): .plain(in: dialect)
        }
    }

    private func makeContext(_ identity: Identity, _ profile: TLSProfile) throws(TLSError) -> TLSContext {
        try TLSContext.make(role: .server, identity: identity, profile: profile, limits: limits)
    }
}
