package import Contacts
package import Lines
import Sharing

extension ReceiverEvent {
    /// The lines of the event. Reads the contacts.
    package func news(_ book: ContactBook) -> ReceiverNews {
        func person(_ peer: PeerID, _ name: String?) -> Person {
            Person(id: peer, ownName: name, introduction: book.introduction(of: peer, callingItself: name))
        }
        switch self {
        case .ready(let id, let name, let port, let inbox, let visibility):
            return .ready(
                ReadyLine(id: id.text, name: name, port: port, inbox: inbox, visibility: visibility.rawValue))
        case .reception(.offered(let offer, let peer)):
            let sender = person(peer, offer.senderName)
            return .offered(OfferLine(offer, from: sender.fields), sender)
        case .reception(.judged(let offer, let verdict, let peer)):
            let sender = person(peer, offer.senderName)
            return .answered(AnsweredLine(offer, from: sender.fields, verdict.items), verdict, sender)
        case .reception(.began(let offer, let peer)):
            let sender = person(peer, offer.senderName)
            return .began(OfferLine(offer, from: sender.fields), sender)
        case .reception(.progressed(let transfer, let peer, let received, let total)):
            return .moved(ArrivingLine(transfer, from: peer, bytes: received, of: total))
        case .reception(.stored(let arrival)):
            let sender = person(arrival.peer, arrival.senderName)
            return .arrival(ArrivalLine(arrival, from: sender.fields), sender)
        case .reception(.opened(let arrival, let answer)):
            let sender = person(arrival.peer, arrival.senderName)
            return .arrival(ArrivalLine(arrival, from: sender.fields).answered(answer), sender)
        case .reception(.ended(let transfer, let peer, let receipt, let fault)):
            return .ended(ArrivedLine(transfer, from: peer, fault, receipt), receipt, peer)
        case .remarked(let offer, let peer, let entry, let reason):
            let sender = person(peer, offer.senderName)
            return .altered(AlteredLine(offer, from: sender.fields, entry: entry, reason: reason), sender)
        case .settings(let settings): return .settings(settings)
        case .protection(let lock): return .protection(lock)
        }
    }
}
