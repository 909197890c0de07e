package import Pairing
package import Sharing

/// Answers the peers that want to pair with this receiver.
package protocol PairingAnswering: Sendable {
    /// Whether strangers may come: then they may know who this is.
    var isOpen: Bool { get }

    /// Reports that `isOpen` may have changed. For one task.
    func changes() -> AsyncStream<Void>

    /// The answering side for one connection.
    /// - Parameter exporter: as in `PairingConnection`.
    func responder(
        for peer: PeerID, exporter: @escaping @Sendable () async throws -> [UInt8]
    ) -> any PairingResponding
}

/// The answering side of pairing on one connection.
package protocol PairingResponding: Sendable {
    /// The answer to a letter, which can wait for the user; cancelling the task gives the pairing up.
    func answer(_ letter: PairingLetter) async -> PairingLetter

    /// The connection is gone.
    func end()
}
