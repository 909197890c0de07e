package import Sharing

extension PeerID {
    /// Peers of tests: the same for the same number, different for different ones.
    package static func sample(_ number: UInt8) -> PeerID {
        guard let id = PeerID(fingerprint: Array(repeating: number, count: PeerID.byteCount)) else {
            preconditionFailure("a fingerprint has \(PeerID.byteCount) bytes")
        }
        return id
    }
}
