package import Contacts
package import Lines
import Sharing

extension ReceiverEvent {
    /// Tells the lines of the event: one, or one for each item that was stored. Reads the contacts once.
    package func news(_ book: ContactBook, _ tell: (ReceiverNews) -> Void) {
        func person(_ peer: PeerID, _ name: String?) -> Person {
            Person(id: peer, ownName: name, introduction: book.introduction(of: peer, callingItself: name))
        }
        switch self {
        case .ready(let id, let name, let port, let inbox, let visibility):
            tell(
                .ready(ReadyLine(id: id.text, name: name, port: port, inbox: inbox, visibility: visibility.rawValue)))
        case .reception(.offered(let offer, let peer)):
            let sender = person(peer, offer.senderName)
            tell(.offered(OfferLine(offer, from: sender.fields), sender))
        case .reception(.judged(let offer, let verdict, let peer)):
            let sender = person(peer, offer.senderName)
            tell(.answered(AnsweredLine(offer, from: sender.fields, verdict.items), verdict, sender))
        case .reception(.began(let offer, let peer)):
            let sender = person(peer, offer.senderName)
            tell(.began(OfferLine(offer, from: sender.fields), sender))
        case .reception(.progressed(let transfer, let peer, let received, let total)):
            tell(.moved(ArrivingLine(transfer, from: peer, bytes: received, of: total)))
        case .reception(.stored(let arrivals)):
            guard let first = arrivals.first else { return }
            let sender = person(first.peer, first.senderName)
            let fields = sender.fields
            for arrival in arrivals { tell(.arrival(ArrivalLine(arrival, from: fields), sender)) }
        case .reception(.opened(let arrival, let answer)):
            let sender = person(arrival.peer, arrival.senderName)
            tell(.arrival(ArrivalLine(arrival, from: sender.fields).answered(answer), sender))
        case .reception(.ended(let transfer, let peer, let receipt, let fault)):
            tell(.ended(ArrivedLine(transfer, from: peer, fault, receipt), receipt, peer))
        case .remarked(let offer, let peer, let entry, let reason):
            let sender = person(peer, offer.senderName)
            tell(.altered(AlteredLine(offer, from: sender.fields, entry: entry, reason: reason), sender))
        case .settings(let settings): tell(.settings(settings))
        case .protection(let lock): tell(.protection(lock))
        }
    }
}
