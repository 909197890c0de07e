import Contacts
import ContentCheck
import Control
import Lines
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
    private let rule: @Sendable () -> RelayRule
    private let ready = Mutex<ReadyLine?>(nil)
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
    ///   - rule: the senders for which this machine passes contents on now.
    init(
        _ book: ContactBook,
        isWatched: @escaping @Sendable () -> Bool = { true },
        name: @escaping @Sendable () -> String,
        rule: @escaping @Sendable () -> RelayRule = { .never },
        tell: @escaping @Sendable (ControlEvent) -> Void
    ) {
        self.book = book
        self.name = name
        self.rule = rule
        self.isWatched = isWatched
        self.tell = tell
    }

    func see(_ event: ReceiverEvent) {
        switch event {
        case .ready: send(event)
        case .reception(.stored) where isWatched(): send(event)
        case .reception(.opened(_, let answer)) where answer.state != .none && isWatched(): send(event)
        case .reception(.progressed(let transfer, _, _, _)):
            if isWatched(), isDue(transfer) { send(event) }
        case .reception(.judged(let offer, let verdict, let peer)):
            if let number = waiting.withLock({ $0.removeValue(forKey: offer.transfer) }) {
                return tell(.answered(AnsweredLine(offer, from: sender(offer, peer), verdict.items, number: number)))
            }
            // `answered` has told the answers to offers that have waited.
            guard settled.withLock({ $0.remove(offer.transfer) }) == nil, verdict.acceptsAnything, isWatched() else {
                return
            }
            tell(.answered(AnsweredLine(offer, from: sender(offer, peer), verdict.items, listsItems: true)))
        case .reception(.ended(let transfer, let peer, let receipt, let fault)):
            progress.withLock { _ = $0.removeValue(forKey: transfer) }
            tell(.ended(ArrivedLine(transfer, from: peer, fault, receipt)))
        case .settings(let settings):
            tell(.settings(settings))
            guard settings.changedSettings?.contains("name") == true, var line = ready.withLock({ $0 }) else { return }
            line.name = name()
            tell(.ready(line))
        case .protection(let report):
            tell(.protection(report))
        case .reception, .remarked:
            // `entered` sends the offers that wait.
            break
        }
    }

    /// Sends an event that a display in this process sees as it is.
    private func send(_ event: ReceiverEvent) {
        event.news(book) { news in
            switch news {
            case .ready(let line):
                ready.withLock { $0 = line }
                tell(.ready(line))
            case .arrival(let line, _): tell(.arrival(line))
            case .moved(let line): tell(.progress(line))
            default: break
            }
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
        ReceiverEvent.reception(.stored([arrival])).news(book) { news in
            if case .arrival(let line, _) = news { tell(.arrival(line.left(departure))) }
        }
    }

    private func sender(_ offer: Offer, _ peer: PeerID) -> PersonFields {
        PersonFields(
            peer, callingItself: offer.senderName, book.introduction(of: peer, callingItself: offer.senderName))
    }

    /// An offer has entered the queue. Reads the contacts.
    func entered(_ offer: WaitingOffer) {
        waiting.withLock { $0[offer.offer.transfer] = offer.number }
        tell(.offer(line(of: offer)))
    }

    /// An offer was answered. The verdict on one that ended without an answer comes later, with its cause.
    func answered(_ offer: Offer, from peer: PeerID, _ verdicts: [ItemVerdict]) {
        if verdicts.allSatisfy({ $0.answer == .expired }) { return }
        guard let number = waiting.withLock({ $0.removeValue(forKey: offer.transfer) }) else { return }
        settled.withLock { _ = $0.insert(offer.transfer) }
        tell(.answered(AnsweredLine(offer, from: sender(offer, peer), verdicts, number: number)))
    }

    /// An offer as it is shown, with its sender.
    func line(of offer: WaitingOffer) -> OfferLine {
        OfferLine(
            offer, book.introduction(of: offer.peer, callingItself: offer.offer.senderName), relay: rule())
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
