import Contacts
import ContentCheck
import Control
import Sharing
import Synchronization

/// Sends the events of a receiver to the watchers on the control socket.
///
/// An offer is sent when it enters the queue, and once more when it is answered: in that order, for any answer from any
/// source.
final class EventRelay: Sendable {
    private let book: ContactBook
    private let isWatched: @Sendable () -> Bool
    private let tell: @Sendable (ControlEvent) -> Void
    /// The name that this receiver gives itself now.
    private let name: @Sendable () -> String
    private let ready = Mutex<ReceiverSummary?>(nil)
    /// The numbers of the offers that wait.
    private let waiting = Mutex<[TransferID: Int]>([:])
    /// Those that were answered, until they are judged.
    private let settled = Mutex<Set<TransferID>>([])
    /// When the progress of each running transfer was sent.
    private let progress = Mutex<[TransferID: ContinuousClock.Instant]>([:])
    /// Between two events about the progress of a transfer.
    private static let progressPause: Duration = .milliseconds(250)

    /// - Parameters:
    ///   - isWatched: whether any client is watching.
    ///   - name: the name that this receiver gives itself now.
    init(
        _ book: ContactBook,
        isWatched: @escaping @Sendable () -> Bool = { true },
        name: @escaping @Sendable () -> String,
        tell: @escaping @Sendable (ControlEvent) -> Void
    ) {
        self.book = book
        self.name = name
        self.isWatched = isWatched
        self.tell = tell
    }

    func see(_ event: ReceiverEvent) {
        switch event {
        case .ready(let id, let name, let port, let inbox, _):
            let summary = ReceiverSummary(id: id.text, name: name, port: port, inbox: inbox)
            ready.withLock { $0 = summary }
            tell(.ready(summary))
        case .reception(.stored(let arrival)) where isWatched():
            tell(.stored(summary(of: arrival)))
        case .reception(.opened(let arrival, let answer)) where answer.state != .none && isWatched():
            tell(.opened(summary(of: arrival), answer: answer.state.rawValue, exitCode: answer.exitCode))
        case .reception(.progressed(let transfer, let peer, let received, let total)):
            guard isWatched(), isDue(transfer) else { return }
            tell(.progress(transfer: transfer.text, peer: peer.provenText, bytes: received, total: total))
        case .reception(.judged(let offer, let verdict, let peer)):
            if let number = waiting.withLock({ $0.removeValue(forKey: offer.transfer) }) {
                tell(
                    .settled(
                        SettledOffer(number, offer, from: peer, person(peer, offer.senderName), verdicts: verdict.items)
                    ))
                return
            }
            // `answered` has told the answers to offers that have waited.
            guard settled.withLock({ $0.remove(offer.transfer) }) == nil, verdict.acceptsAnything, isWatched() else {
                return
            }
            tell(
                .acceptedUnasked(
                    SettledOffer(nil, offer, from: peer, person(peer, offer.senderName), verdicts: verdict.items)))
        case .reception(.ended(let transfer, let peer, _, let fault)):
            progress.withLock { _ = $0.removeValue(forKey: transfer) }
            tell(.ended(transfer: transfer.text, peer: peer.provenText, fault: fault?.message, cause: fault?.cause))
        case .settings(let report):
            tell(.settings(report))
            guard report.changed.contains("name"), var summary = ready.withLock({ $0 }) else { return }
            summary.name = name()
            tell(.ready(summary))
        case .protection(let report):
            tell(.protection(report))
        case .reception, .remarked:
            // `entered` sends the offers that wait.
            break
        }
    }

    /// Whether the progress of a transfer may be sent again.
    private func isDue(_ transfer: TransferID) -> Bool {
        progress.withLock { progress in
            if let last = progress[transfer], last.duration(to: .now) < Self.progressPause { return false }
            progress[transfer] = .now
            return true
        }
    }

    /// An item has left the Inbox.
    func left(_ arrival: Arrival, _ departure: Departure) {
        guard isWatched() else { return }
        tell(.left(summary(of: arrival), how: departure.how, toward: departure.toward))
    }

    private func summary(of arrival: Arrival) -> ArrivalSummary {
        ArrivalSummary(
            arrival, from: person(arrival.peer, arrival.senderName), content: arrival.content?.outcome.rawValue)
    }

    private func person(_ peer: PeerID, _ name: String) -> Introduction {
        book.introduction(of: peer, callingItself: name)
    }

    /// An offer has entered the queue. Reads the contacts.
    func entered(_ offer: WaitingOffer) {
        waiting.withLock { $0[offer.offer.transfer] = offer.number }
        tell(.offer(summary(of: offer)))
    }

    /// An offer was answered. The verdict on one that ended without an answer comes later, with its cause.
    func answered(_ offer: Offer, from peer: PeerID, _ verdicts: [ItemVerdict]) {
        if verdicts.allSatisfy({ $0.answer == .expired }) { return }
        guard let number = waiting.withLock({ $0.removeValue(forKey: offer.transfer) }) else { return }
        settled.withLock { _ = $0.insert(offer.transfer) }
        tell(.settled(SettledOffer(number, offer, from: peer, person(peer, offer.senderName), verdicts: verdicts)))
    }

    /// An offer as it is shown, with its sender.
    func summary(of offer: WaitingOffer) -> OfferSummary {
        OfferSummary(offer, asker: OfferSummary.Asker(person(offer.peer, offer.offer.senderName)))
    }
}

/// Asks for consent, and reports the answer to the watchers.
struct RelayedConsent: ConsentAsking {
    let asking: any ConsentAsking
    let relay: EventRelay

    func consent(
        to offer: Offer, from peer: PeerID, freeRoom: UInt64, waits: @escaping @Sendable () -> Void
    ) async -> [ItemVerdict] {
        let verdicts = await asking.consent(to: offer, from: peer, freeRoom: freeRoom, waits: waits)
        relay.answered(offer, from: peer, verdicts)
        return verdicts
    }
}
