package import Sharing

extension Introduction {
    /// A stranger that has no contact's name.
    /// - Parameter name: the name that it gives itself.
    package static func stranger(_ name: String, _ peer: PeerID) -> Introduction {
        Introduction(
            strangerNamed: ShownText.peerName(name), key: peer.unprovenBy == nil ? peer.short : nil,
            unprovenBy: peer.unprovenBy)
    }
}
