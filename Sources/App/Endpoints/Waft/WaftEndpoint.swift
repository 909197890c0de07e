import Contacts
import Discovery
import Executors
import HTTPChannel
import Logging
import NIOCore
import NIOPosix
import SecureTransport
import ServiceManager
import Settings
package import Sharing
import WaftDialect

/// Waft's own dialect on the network: HTTP over TLS, with a key on both sides, found by mDNS.
package struct WaftEndpoint: Endpoint {
    package let dialect = Dialect.waft
    let identity: Identity
    let settings: LiveSettings
    let directory: SharedDirectory
    /// Where the addresses of contacts are noted; nil if there are no contacts.
    let contacts: ContactBook?
    /// Threads for conversations that read or write the disk.
    let blocking: BlockingExecutor
    let sockets: PassedSockets
    let logger: Logger
    var limits = TransportLimits()
    /// Interval between two checks for a silent connection.
    var watchInterval: TimeAmount = .seconds(1)
    /// Pause between two rounds of repeated questions to the peers in view.
    var repetition: Duration = .seconds(10)
    /// Pause between two attempts to connect to a peer in view, while a person looks at the list.
    var trialPause: Duration = .seconds(5)

    package init(_ parts: EndpointParts) {
        (settings, directory, identity) = (parts.settings, parts.directory, parts.identity)
        (contacts, blocking, sockets, logger) = (parts.contacts, parts.blocking, parts.sockets, parts.logger)
    }

    /// TLS 1.3 with Waft's application protocol and a P-256 key on both sides.
    static let profile = TLSProfile(applicationProtocols: [WaftDialect.alpn])

    /// Bytes of the largest answer: a verdict or receipt on `Limits.items` items.
    private static let answerLimit = Limits.offerBytes

    package func target(host: String, port: UInt16) -> PeerTarget? {
        PeerTarget(dialect, addresses: [DialAddress(host: host, port: Int(port))])
    }

    /// An open connection to a peer whose key is known.
    struct OpenConnection: Sendable {
        var peer: PeerID
        var http: HTTPClient.Connection
        var address: SocketAddress?
    }

    /// - Parameter starting: how long it is tried again where nothing listens.
    /// - Throws: `SendError`: `unreachable` with the reason.
    func connect(
        to target: PeerTarget, within limit: Duration, starting: Duration = .zero
    ) async throws(SendError) -> OpenConnection {
        let end = ContinuousClock.now + min(starting, limit)
        while true {
            do {
                let connection = try await dial(target, within: limit)
                let open = OpenConnection(
                    peer: connection.peerID, http: connection.output, address: connection.remoteAddress)
                contacts?.note(connection.remoteAddress, of: connection.peerID, logger)
                return open
            } catch is CancellationError {
                throw SendError(.cancelled, "cancelled")
            } catch let error as DialError where error.mayBeStarting && ContinuousClock.now < end {
                try? await Task.sleep(for: Self.startingPause)
            } catch {
                throw SendError(.unreachable, "\(error)")
            }
        }
    }

    /// Between two tries to connect to a receiver that is starting.
    private static let startingPause: Duration = .milliseconds(100)

    func dial(
        _ target: PeerTarget, within limit: Duration
    ) async throws -> SecureConnection<HTTPClient.Connection> {
        var limits = self.limits
        limits.dialDeadline = min(limits.dialDeadline, limit)
        let dialer = try SecureDialer(
            identity: identity, profile: Self.profile, limits: limits, group: .singleton, logger: logger)
        let watchInterval = self.watchInterval
        return try await dialer.dial(target.addresses, expecting: target.expected.map { [$0] }) { channel, _ in
            try HTTPClient.configure(channel, answerLimit: Self.answerLimit, watchInterval: watchInterval)
        }
    }

    package func probe(_ target: PeerTarget, within limit: Duration) async -> ProbeResult {
        do {
            let connection = try await dial(target, within: limit)
            try await HTTPClient.run(connection.output) { _ in }
            return .expected
        } catch let error as DialError where error.kind == .wrongKey {
            let keys = error.failures.lazy.compactMap { ($0.cause as? TLSError)?.actualPeer }
            return .other(keys.first)
        } catch {
            return .nothing
        }
    }

    package func meet(_ target: PeerTarget, within limit: Duration) async throws(MeetingError) -> FoundPeer {
        let connection: SecureConnection<HTTPClient.Connection>
        do {
            connection = try await dial(target, within: limit)
        } catch let error as DialError {
            throw MeetingError(error)
        } catch {
            throw MeetingError(.unreachable, "\(error)")
        }
        let peer = FoundPeer(id: connection.peerID, card: nil, target: target.expecting(connection.peerID))
        // A peer that hides its card is met all the same.
        let card = try? await HTTPClient.run(connection.output) { http in
            try await WaftClient(http).card(timeout: limit)
        }
        return FoundPeer(id: peer.id, card: card, target: peer.target)
    }

    package func receipt(
        of offer: Offer, from target: PeerTarget, peerText: String, options: SendOptions
    ) async throws(SendError) -> Receipt? {
        let connection = try await connect(to: target, within: options.finding)
        do {
            return try await HTTPClient.run(connection.http) { http in
                try await WaftClient(http).receipt(
                    of: offer, answered: options.wait == .opened, timeout: options.silence,
                    maximum: options.handlerWait(items: offer.items.count))
            }
        } catch let fault as TransferError where fault.code == .notAccepted {
            return nil
        } catch {
            throw SendError(error, to: peerText)
        }
    }
}
