import Digests

extension PeerID {
    /// An id for a peer that has proved no key, in a protocol without keys. It is never a fingerprint, so no contact,
    /// block or rule can match it.
    ///
    /// It is the SHA-256 of data that begins with words; a fingerprint is that of a DER sequence, which does not.
    /// - Parameter seed: distinguishes this id from others; random bytes if nothing does.
    package static func unproven(_ dialect: Dialect, seed: [UInt8]) -> PeerID {
        var state = DigestState(.sha256)
        let label = Array("waft: no key was proved: \(dialect.name)".utf8) + [0] + seed
        label.withUnsafeBytes { state.update($0) }
        guard let id = PeerID(fingerprint: state.finalize().bytes) else {
            preconditionFailure("a SHA-256 has \(PeerID.byteCount) bytes")
        }
        return PeerID(id, unprovenBy: dialect)
    }

    /// The id of an earlier visit by a dialect, as the journal has it.
    /// - Parameter isProven: whether the peer proved a key then.
    package func visiting(by dialect: Dialect, isProven: Bool) -> PeerID {
        isProven ? self : PeerID(self, unprovenBy: dialect)
    }

    /// An id that no peer has had, and no peer will have again.
    package static func unproven(_ dialect: Dialect) -> PeerID {
        var generator = SystemRandomNumberGenerator()
        return unproven(dialect, seed: (0..<byteCount).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }
}
