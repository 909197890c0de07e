package import Pairing
package import SecureTransport
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

/// An endpoint whose peers can be asked for the nameplate of a spoken code. Neither side shows its identity for that.
package protocol CodeEndpoint: PairingEndpoint {
    /// Asks the peers in view for a nameplate, and returns those that show it: each once, by the key that it shows to
    /// those who ask. Ends soon after the first one.
    /// - Parameter limit: how long to look.
    /// - Throws: `TransferError` `stopping` if no peer claims it, and one was asked too often.
    func claims(of nameplate: Int, within limit: Duration) async throws(TransferError) -> [CodeClaim]

    /// Asks one peer.
    /// - Returns: nil if it does not show it.
    /// - Throws: `DialError`, `HTTPError`, `TransferError` if it cannot be asked.
    func claim(of nameplate: Int, at target: PeerTarget, within limit: Duration) async throws -> CodeClaim?
}

/// A peer that says to show a spoken code of a nameplate.
package struct CodeClaim: Sendable {
    package let target: PeerTarget
    /// It is no identity: the same peer shows another one later.
    package let shownKey: PeerID

    package init(_ target: PeerTarget, shownKey: PeerID) { (self.target, self.shownKey) = (target, shownKey) }
}

/// An open connection to a peer whose key is proved, for pairing.
///
/// Used by one task, but for `close`.
package protocol PairingConnection {
    var peer: PeerID { get }
    var isOpen: Bool { get }
    /// Where the peer is; nil if unknown.
    var address: DialAddress? { get }

    /// The key material for `PairingPurpose.exporterLabel` (RFC 5705): the same on both sides of this connection only.
    func exporter(_ purpose: PairingPurpose) async throws -> [UInt8]

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
