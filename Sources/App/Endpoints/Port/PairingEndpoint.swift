package import Pairing
package import Sharing

/// An endpoint over which two peers can compare their keys.
package protocol PairingEndpoint: Endpoint {
    /// Connects to a peer, runs `body`, and closes the connection.
    /// - Throws: `SendError` if the peer cannot be reached, and the errors of `body`.
    func pair<Result: Sendable>(
        with target: PeerTarget, within limit: Duration,
        _ body: @escaping @Sendable (any PairingConnection) async throws -> sending Result
    ) async throws -> Result
}

/// An open connection to a peer whose key is proved, for pairing.
///
/// Used by one task, but for `close`.
package protocol PairingConnection {
    var peer: PeerID { get }
    var isOpen: Bool { get }

    /// The key material for `PairingSession.exporterLabel` (RFC 5705): the same on both sides of this connection only.
    func exporter() async throws -> [UInt8]

    /// Sends a letter and waits for the answer.
    /// - Parameters:
    ///   - silence: how long the other side may give no sign of life.
    ///   - maximum: how long the answer may take in all; nil for `silence`.
    /// - Throws: `PairingConnectionError`, `TransferError` for a peer that does not pair, `CancellationError`.
    func exchange(_ letter: PairingLetter, silence: Duration, maximum: Duration?) async throws -> PairingLetter

    var close: @Sendable () -> Void { get }
    /// Calls `body` once, when the connection is closed.
    func whenClosed(_ body: @escaping @Sendable () -> Void)
}

/// The connection for a pairing broke off.
package struct PairingConnectionError: Error {
    package init() {}
}
