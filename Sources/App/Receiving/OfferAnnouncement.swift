import Sharing
import Synchronization

/// Publishes an offer only once it can be answered: a listener may answer at once.
///
/// An offer without a question is published right before its verdict.
final class OfferAnnouncement: Sendable {
    private let tell: @Sendable (ReceiverEvent) -> Void
    /// Whether offers can wait here for an answer.
    private let asks: Bool
    /// Offers that have come and are not told yet. Each leaves with its verdict, so there are no more than may wait.
    private let held = Mutex<[TransferID: ReceiverEvent]>([:])

    init(_ rule: AcceptRule, tell: @escaping @Sendable (ReceiverEvent) -> Void) {
        asks = rule == .ask || rule == .contacts
        self.tell = tell
    }

    func see(_ event: ReceiverEvent) {
        switch event {
        case .reception(.offered(let offer, _)) where asks:
            held.withLock { $0[offer.transfer] = event }
            return
        case .reception(.judged(let offer, _, _)): announce(offer.transfer)
        default: break
        }
        tell(event)
    }

    /// An offer has entered the queue.
    func entered(_ offer: WaitingOffer) { announce(offer.offer.transfer) }

    private func announce(_ transfer: TransferID) {
        if let event = held.withLock({ $0.removeValue(forKey: transfer) }) { tell(event) }
    }
}
