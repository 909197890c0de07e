package import Logging
package import NIOCore
package import NIOPosix
package import Sharing

/// Makes TLS connections to peers, at the address of a peer that answers first.
package struct SecureDialer: Sendable {
    private let context: TLSContext
    private let group: MultiThreadedEventLoopGroup
    private let logger: Logger

    /// - Throws: `TLSError` if TLS cannot be set up.
    package init(
        identity: Identity,
        profile: TLSProfile,
        limits: TransportLimits = TransportLimits(),
        group: MultiThreadedEventLoopGroup,
        logger: Logger
    ) throws(TLSError) {
        context = try TLSContext.make(role: .client, identity: identity, profile: profile, limits: limits)
        self.group = group
        self.logger = logger
    }

    /// Connects to one of `addresses`, in the order of RFC 8305. An attempt includes the TLS handshake: the first
    /// attempt that finishes it wins, and all others are closed.
    ///
    /// A server may still refuse this side after that, when it has checked this side's certificate: the first read then
    /// fails with a `TLSError` (`refusedByPeer`).
    ///
    /// - Parameters:
    ///   - addresses: in order of preference; at most `TransportLimits.addressesPerDial` are tried.
    ///   - expectedPeers: the only keys the peer may have; nil for any. An address with another key counts as failed,
    ///     and receives none of the data.
    ///   - certificate: the only certificate the peer may have; nil for any. As with `expectedPeers`, nobody else
    ///     receives any of the data.
    ///   - configurePipeline: Adds the caller's handlers above TLS. It runs on the channel's event loop, for the winner
    ///     only, when the peer has proved its key and before the first plaintext is delivered.
    /// - Returns: the connection, which the caller closes. Also when the task is cancelled after a win: no result of
    ///   `configurePipeline` is dropped.
    /// - Throws: `DialError`, `CancellationError`, or the error of `configurePipeline`.
    package func dial<Output: Sendable>(
        _ addresses: [DialAddress],
        expecting expectedPeers: Set<PeerID>? = nil,
        certificate: CertificateFingerprint? = nil,
        configurePipeline: @escaping @Sendable (_ channel: any Channel, _ peerID: PeerID) throws -> Output
    ) async throws -> SecureConnection<Output> {
        let eventLoop = group.next()
        let promise = eventLoop.makePromise(of: SecureConnection<Output>.self)
        // All attempts and the race live on one event loop: no lock is needed.
        let race = try await eventLoop.submit { [context, logger] in
            let race = DialRace(
                eventLoop: eventLoop,
                context: context,
                pin: PeerPin(keys: expectedPeers, certificate: certificate),
                logger: logger,
                configurePipeline: configurePipeline,
                promise: promise
            )
            race.start(addresses)
            return NIOLoopBound(race, eventLoop: eventLoop)
        }.get()
        return try await withTaskCancellationHandler {
            try await promise.futureResult.get()
        } onCancel: {
            eventLoop.execute { race.value.cancel() }
        }
    }
}
