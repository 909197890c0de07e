import Contacts
import ContentCheck
import Control
import Sharing
import Synchronization

/// Tells those who watch over the control socket what happens at a receiver.
///
/// An offer is told when it has entered the queue, and once more when whoever was asked has answered: in that order,
/// whatever the answer is and wherever it comes from.
final class EventRelay: Sendable {
    private let book: ContactBook
    private let isWatched: @Sendable () -> Bool
    private let tell: @Sendable (ControlEvent) -> Void
    /// The numbers of the offers that wait.
    private let waiting = Mutex<[TransferID: Int]>([:])

    /// - Parameter isWatched: whether somebody hears of what only those hear who watch just then.
    init(
        _ book: ContactBook,
        isWatched: @escaping @Sendable () -> Bool = { true },
        tell: @escaping @Sendable (ControlEvent) -> Void
    ) {
        self.book = book
        self.isWatched = isWatched
        self.tell = tell
    }

    func see(_ event: ReceiverEvent) {
        switch event {
        case .ready(let id, let name, let port, let inbox, _):
            tell(.ready(ReceiverSummary(id: id.text, name: name, port: port, inbox: inbox)))
        case .reception(.stored(let arrival)) where isWatched():
            tell(.stored(summary(of: arrival)))
        case .reception(.opened(let arrival, let answer)) where answer.state != .none && isWatched():
            tell(.opened(summary(of: arrival), answer: answer.state.rawValue, exitCode: answer.exitCode))
        case .reception(.ended(let transfer, let peer, _, let fault)):
            tell(.ended(transfer: transfer.text, peer: peer.provenText, fault: fault?.message))
        case .reception, .remarked:
            // Of offers those are told that wait, below.
            break
        }
    }

    /// An item has left the Inbox.
    func left(_ arrival: Arrival, _ departure: Departure) {
        guard isWatched() else { return }
        tell(.left(summary(of: arrival), how: departure.how, toward: departure.toward))
    }

    private func summary(of arrival: Arrival) -> ArrivalSummary {
        ArrivalSummary(
            arrival, contact: contact(arrival.peer), content: arrival.content?.outcome.rawValue)
    }

    private func contact(_ peer: PeerID) -> String? { contacts[peer]?.name.text }

    /// Who cannot be known is a stranger.
    private var contacts: ContactSnapshot { (try? book.snapshot()) ?? .empty }

    /// An offer has entered the queue. Reads the contacts.
    func entered(_ offer: WaitingOffer) {
        waiting.withLock { $0[offer.offer.transfer] = offer.number }
        tell(.offer(summary(of: offer)))
    }

    /// Whoever was asked about an offer has answered.
    func answered(_ offer: Offer, from peer: PeerID, _ verdicts: [ItemVerdict]) {
        guard let number = waiting.withLock({ $0.removeValue(forKey: offer.transfer) }) else { return }
        let contact = contact(peer)
        tell(.settled(SettledOffer(number, offer, from: peer, contact: contact, verdicts: verdicts)))
    }

    /// An offer as it is shown, with who asks.
    func summary(of offer: WaitingOffer) -> OfferSummary {
        let introduction = contacts.introduction(of: offer.peer, callingItself: offer.offer.senderName)
        return OfferSummary(
            offer,
            asker: OfferSummary.Asker(
                line: introduction.line,
                contact: introduction.isContact ? introduction.name : nil,
                warning: introduction.warning
            )
        )
    }
}

/// Asks somebody, and tells those who watch when that is over.
struct RelayedConsent: ConsentAsking {
    let asking: any ConsentAsking
    let relay: EventRelay

    func consent(to offer: Offer, from peer: PeerID, freeRoom: UInt64) async -> [ItemVerdict] {
        let verdicts = await asking.consent(to: offer, from: peer, freeRoom: freeRoom)
        relay.answered(offer, from: peer, verdicts)
        return verdicts
    }
}
