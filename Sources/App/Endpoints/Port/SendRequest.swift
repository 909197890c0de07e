package import Sharing

/// One sending to one peer, as an endpoint carries it out.
package struct SendRequest: Sendable {
    /// One for each item of the offer.
    package var sources: [any ItemSource]
    package var offer: Offer
    /// The offer as a peer gets it: with previews, if that peer gets any. Takes a second at most.
    package var offered: @Sendable (PeerID) async -> Offer
    /// The place where the peer was found.
    package var target: PeerTarget
    /// The peer as the user calls it, for messages.
    package var peerText: String
    package var options: SendOptions
    /// A cancellation is reported to the other side, and ends the sending with `SendError.cancelled`.
    package var cancellation: Cancellation
    /// Nil for a sending to this peer alone.
    package var seat: SendGroup.Seat?
    /// Called in order, from one task.
    package var observe: @Sendable (SendEvent) -> Void
    /// Looks for the peer again: its address may have changed.
    package var findAgain: @Sendable () async throws(SendError) -> PeerTarget

    package init(
        sources: [any ItemSource], offer: Offer, target: PeerTarget, peerText: String, options: SendOptions,
        cancellation: Cancellation, seat: SendGroup.Seat? = nil,
        offered: (@Sendable (PeerID) async -> Offer)? = nil,
        observe: @escaping @Sendable (SendEvent) -> Void,
        findAgain: @escaping @Sendable () async throws(SendError) -> PeerTarget
    ) {
        (self.sources, self.offer, self.target, self.peerText) = (sources, offer, target, peerText)
        (self.options, self.cancellation, self.seat) = (options, cancellation, seat)
        self.offered = offered ?? { _ in offer }
        (self.observe, self.findAgain) = (observe, findAgain)
    }
}
