/// Lines of `waft pair`.
extension EventLine {
    struct OpenedPairing: Encodable {
        /// How long a peer is waited for.
        var seconds: Double
        var code: String?
    }

    struct PairingPeer: Encodable {
        var peer: Peer
        var warning: String?
    }

    struct Compared: Encodable {
        var digits: String
        var words: [String]
    }

    struct Paired: Encodable {
        var peer: Peer
    }
}
