import Sharing
import TestSupport

@testable import Endpoints

extension SendRequest {
    /// A sending to a target that does not move.
    static func test(
        _ sources: [MemorySource], to target: PeerTarget, options: SendOptions = SendOptions(),
        observe: @escaping @Sendable (SendEvent) -> Void = { _ in }
    ) -> SendRequest {
        var offer = Offer(of: sources)
        offer.dialect = target.dialect
        offer.annotation = options.annotation
        offer.takesPart = options.takesPart
        return SendRequest(
            sources: sources, offer: offer, target: target, peerText: target.addressTexts.joined(), options: options,
            cancellation: Cancellation(), observe: observe, findAgain: { () throws(SendError) in target })
    }
}
