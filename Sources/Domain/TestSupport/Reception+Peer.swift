package import Sharing

extension Reception {
    /// Answers an offer that comes on a connection of its own.
    package func judge(_ offer: Offer, from peer: PeerID) async -> Verdict {
        await judge(offer, from: Visitor(peer))
    }
}
