package import Settings
package import Sharing

/// One way to reach peers: a dialect with its listener, its search and its sender.
///
/// Everything that differs between dialects is asked of the endpoint, or of the abilities of its `Dialect`. To add a
/// dialect, write its module and its endpoint, and add the endpoint to `Endpoints.all`.
package protocol Endpoint: Sendable {
    var dialect: Dialect { get }

    /// Listens, announces this machine and feeds the reception while the host's visibility allows it, until the task is
    /// cancelled. Everything that it started has ended when it returns.
    /// - Throws: an error that ends the receiver, such as a `ListenerError` for a port that the user has set. An endpoint
    ///   that the receiver can do without reports its errors as its status instead.
    func listen(_ host: ReceivingHost) async throws

    /// Whether it could listen with other settings than those that it uses now.
    /// - Parameter port: that on which it listens; 0 for none.
    /// - Throws: an error with one readable line.
    func check(_ settings: Settings, listeningOn port: Int) async throws

    /// Looks for peers until the task is cancelled. Reports a peer again if the facts about it have changed, and never
    /// reports this peer itself.
    /// - Parameter isWatched: whether a person looks at the list of peers: a killed peer then leaves it soon.
    func search(_ found: AsyncStream<PeerEvent>.Continuation, isWatched: Bool) async

    /// Asks each address of the own networks, if the dialect has a port at which its peers listen.
    func scan(_ found: AsyncStream<PeerEvent>.Continuation) async

    /// Offers, moves the accepted items, and returns what became of each.
    /// - Throws: `SendError`.
    func send(_ request: SendRequest) async throws(SendError) -> SendReport

    /// The target for an address that the user typed; nil if the dialect cannot be spoken there.
    func target(host: String, port: UInt16) -> PeerTarget?

    /// The target for an address at which another program than this dialect's is expected: at any port, or for nil at the
    /// dialect's own. Nil if the dialect is not looked for there.
    func candidate(host: String, port: UInt16?) -> PeerTarget?

    /// The next steps for a user whose peer was not found, where the dialect knows of more than the usual ones: one line
    /// each.
    var absenceAdvice: [String] { get }

    /// Whether a target answers with the key that it should have.
    func probe(_ target: PeerTarget, within limit: Duration) async -> ProbeResult

    /// Connects to a target and asks it for its name.
    ///
    /// - Parameter limit: for the connection and for the answer, each.
    /// - Throws: `MeetingError`.
    func meet(_ target: PeerTarget, within limit: Duration) async throws(MeetingError) -> FoundPeer

    /// Asks a peer for the items that it has of an earlier transfer.
    /// - Parameters:
    ///   - offer: with the number and as many items as it had.
    ///   - peerText: the peer as the user calls it, for messages.
    /// - Returns: nil if the peer knows of no such transfer, or nothing of it has ended, or the dialect has no receipts.
    /// - Throws: `SendError`.
    func receipt(
        of offer: Offer, from target: PeerTarget, peerText: String, options: SendOptions
    ) async throws(SendError) -> Receipt?
}

extension Endpoint {
    package func scan(_ found: AsyncStream<PeerEvent>.Continuation) async {}

    package func check(_ settings: Settings, listeningOn port: Int) async throws {}

    package var absenceAdvice: [String] { [] }

    package func target(host: String, port: UInt16) -> PeerTarget? { nil }

    package func candidate(host: String, port: UInt16?) -> PeerTarget? { nil }

    package func probe(_ target: PeerTarget, within limit: Duration) async -> ProbeResult { .nothing }

    package func meet(_ target: PeerTarget, within limit: Duration) async throws(MeetingError) -> FoundPeer {
        throw MeetingError(.unreachable, "\(dialect.title) cannot be asked at an address")
    }

    package func receipt(
        of offer: Offer, from target: PeerTarget, peerText: String, options: SendOptions
    ) async throws(SendError) -> Receipt? { nil }
}
