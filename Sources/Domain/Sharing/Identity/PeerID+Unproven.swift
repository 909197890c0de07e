import Digests

extension PeerID {
    /// An id for somebody who has proved no key, in a protocol that knows none: nobody's fingerprint, so that no contact,
    /// block or rule can ever mean it.
    ///
    /// What it is the SHA-256 of begins with words, and what a fingerprint is the SHA-256 of, a DER sequence, does not.
    /// - Parameter seed: what sets this one apart from others; random bytes where nothing does.
    package static func unproven(_ dialect: Dialect, seed: [UInt8]) -> PeerID {
        var state = DigestState(.sha256)
        let label = Array("waft: no key was proved: \(dialect.rawValue)".utf8) + [0] + seed
        label.withUnsafeBytes { state.update($0) }
        guard let id = PeerID(fingerprint: state.finalize().bytes) else {
            preconditionFailure("a SHA-256 has \(PeerID.byteCount) bytes")
        }
        return PeerID(id, unprovenBy: dialect)
    }

    /// The id of an earlier visit by a dialect, as the journal has it.
    package func visiting(by dialect: Dialect) -> PeerID {
        dialect.provesKeys ? self : PeerID(self, unprovenBy: dialect)
    }

    /// One that nobody has had, and nobody will have again.
    package static func unproven(_ dialect: Dialect) -> PeerID {
        var generator = SystemRandomNumberGenerator()
        return unproven(dialect, seed: (0..<byteCount).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }
}
