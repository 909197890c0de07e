package import Pairing
package import SecureTransport
package import Sharing

/// Answers the peers that want to pair with this receiver, or have a code for one transfer.
package protocol PairingAnswering: Sendable {
    /// Whether strangers may come: then they may know who this is.
    var isOpen: Bool { get }

    /// Reports that `isOpen` may have changed. For one task.
    func changes() -> AsyncStream<Void>

    /// The answering side for one connection.
    /// - Parameters:
    ///   - address: of the peer, for the user; nil if unknown.
    ///   - exporter: as in `PairingConnection`.
    func responder(
        for peer: PeerID, at address: DialAddress?,
        exporter: @escaping @Sendable (PairingPurpose) async throws -> [UInt8]
    ) -> any PairingResponding

    /// Whether this side shows a spoken code of this nameplate; nil if it has been asked too often.
    /// - Parameter asker: its address, whole: the machines of a link have one /64, and all together are counted, too.
    func shows(nameplate: Int, to asker: String?) -> Bool?

    /// The identity that is shown to those who ask for a nameplate. It tells nothing of this side.
    /// - Throws: `IdentityError`.
    func identityForAskers() throws -> Identity
}

/// The answering side of pairing on one connection.
package protocol PairingResponding: Sendable {
    /// The answer to a letter, which can wait for the user; cancelling the task gives the pairing up.
    func answer(_ letter: PairingLetter) async -> PairingLetter

    /// The connection is gone.
    func end()
}
