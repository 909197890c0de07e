import HTTPChannel
import LocalSendDialect
import NIOCore
import NIOPosix
import SecureTransport
import Settings
import Sharing
import Synchronization

/// The connections of one sending: all to the address and the key that answered first.
final class LocalSendLine: Sendable {
    private struct State {
        var target: PeerTarget
        var peer: PeerID?
        /// Whether TLS is left out.
        var isPlain: Bool
    }

    private let endpoint: LocalSendEndpoint
    private let request: SendRequest
    private let state: Mutex<State>

    init(_ endpoint: LocalSendEndpoint, _ request: SendRequest) {
        (self.endpoint, self.request) = (endpoint, request)
        let isPlain = request.options.plain || request.target.isPlain && endpoint.options.sendsPlain
        state = Mutex(State(target: request.target, isPlain: isPlain))
    }

    /// The peer, after the first connection.
    var peer: PeerID? { state.withLock { $0.peer } }

    /// Whether a connection to this side can be the peer's: from its address, and without another key.
    func isPeer(_ visitor: Visitor) -> Bool {
        let (host, peer) = state.withLock { ($0.target.addresses.first?.hostText, $0.peer) }
        guard let peer, visitor.origin.host == host else { return false }
        return visitor.peer == peer || visitor.peer.unprovenBy != nil || peer.unprovenBy != nil
    }

    /// Opens a connection, calls `body` with it, and closes it.
    /// - Throws: `DialError`, `SendError`, `CancellationError`, and errors of the network.
    @Sendable func converse(_ body: (HTTPClient) async -> Void) async throws {
        let http = try await open()
        // Examining the offer and its answers takes long: not on the threads that everything else shares.
        try await withTaskExecutorPreference(endpoint.blocking) {
            try await HTTPClient.converse(http) { http in await body(http) }
        }
    }

    private func open() async throws -> HTTPClient.Connection {
        let (target, isPlain) = state.withLock { ($0.target, $0.isPlain) }
        if isPlain { return try await openPlain(target) }
        guard !target.isPlain else {
            throw SendError(
                .unreachable,
                "\(request.peerText) does not encrypt: --plain sends all the same, and others on the network can read it"
            )
        }
        do {
            let connection = try await endpoint.dial(target, within: request.options.finding)
            connected(connection.peer, connection.http)
            return connection.http
        } catch let error as DialError {
            guard [.notTLS, .closed].contains(error.kind), endpoint.options.sendsPlain, peer == nil else { throw error }
            return try await openPlain(target)
        }
    }

    private func openPlain(_ target: PeerTarget) async throws -> HTTPClient.Connection {
        guard target.expected == nil || target.expected?.unprovenBy != nil else {
            throw SendError(
                .unfit,
                "\(request.peerText) is known by its key, and nobody proves a key without encryption: leave out --plain"
            )
        }
        let connection = try await endpoint.dialPlain(target, within: request.options.finding)
        let isFirst = connected(connection.peer, connection.http, isPlain: true)
        if isFirst {
            request.observe(
                .remarked("\(request.peerText) is reached without encryption: others on the network can read it"))
        }
        return connection.http
    }

    @discardableResult
    private func connected(_ peer: PeerID, _ http: HTTPClient.Connection, isPlain: Bool = false) -> Bool {
        let address = http.channelBelow.remoteAddress.flatMap { remote -> DialAddress? in
            var address = DialAddress(of: remote)
            address?.port = remote.port ?? 0
            return address
        }
        let isFirst = state.withLock { state in
            guard state.peer == nil else { return false }
            // A receiver serves a session to the address that asked, and to no other.
            if let address { state.target.addresses = [address] }
            if !isPlain { state.target = state.target.expecting(peer) }
            (state.peer, state.isPlain) = (peer, isPlain)
            return true
        }
        guard isFirst else { return false }
        request.observe(.connected(peer, name: request.target.name))
        request.observe(.offered(request.offer))
        return true
    }
}

/// The bytes of all accepted items, once they are known.
final class SentTotal: Sendable {
    private let total = Mutex<UInt64?>(nil)

    var bytes: UInt64? { total.withLock { $0 } }

    func set(of offer: Offer, _ verdict: Verdict) {
        let sizes = zip(offer.items, verdict.items).map { $1.answer == .accepted ? $0.size ?? 0 : 0 }
        total.withLock { $0 = sizes.reduce(0) { $0.addingReportingOverflow($1).overflow ? .max : $0 + $1 } }
    }
}
