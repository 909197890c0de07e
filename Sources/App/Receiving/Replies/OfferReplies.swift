import Contacts
import Control
import Lines
import Sharing

/// Answers the requests about the offers that wait.
struct OfferReplies: Sendable {
    let consent: ConsentQueue
    let relay: EventRelay
    let door: VisibilityController
    let earlier: EarlierArrivals

    init(_ parts: ReceiverParts) {
        (consent, relay, door) = (parts.plan.consent, parts.plan.listeners.relay, parts.door)
        earlier = EarlierArrivals(inbox: parts.store.inbox, journal: parts.store.journal)
    }

    var all: ControlReply { .offers(consent.offers.map(relay.line(of:))) }

    func items(of number: Int, from first: Int) -> ControlReply {
        guard let items = waiting(number)?.offer.items else { return Self.unknown(number) }
        let page = items.indices.dropFirst(max(first, 0)).prefix(ControlRequest.itemsPerPage)
        return .items(page.map { ItemFields($0, items[$0], isWaiting: true) })
    }

    func preview(of number: Int, item: Int) -> ControlReply {
        guard let waiting = waiting(number) else { return Self.unknown(number) }
        guard waiting.offer.items.indices.contains(item) else {
            return .unknown("offer \(number) has no item \(item + 1)")
        }
        let preview = OfferPreviewLine(number, waiting.offer, item: item)
        return preview.map { .preview($0) } ?? .unknown("item \(item + 1) of offer \(number) has no preview")
    }

    func answer(_ number: Int, accept: Bool) -> ControlReply {
        consent.answer(number, accept: accept) ? .done : Self.unknown(number)
    }

    func accept(_ number: Int, _ items: [Int]?, into text: String?) -> ControlReply {
        guard let offer = waiting(number) else { return Self.unknown(number) }
        if let missing = items?.first(where: { !offer.offer.items.indices.contains($0) }) {
            return .unknown("offer \(number) has no item \(missing &+ 1)")
        }
        var folder: SafeRelativePath?
        do {
            folder = try text.map { try SafeRelativePath($0) }
        } catch {
            return .refused("that is not a folder below the Inbox: \(error)")
        }
        // Before the answer: then the contents come.
        let present = folder.map { self.present(items, of: offer, outside: $0) }
        guard consent.answer(number, accepting: items.map(Set.init), into: folder) else {
            return Self.unknown(number)
        }
        return present.map { .accepted(AcceptedLine(offer: number, items: items, folder: text, present: $0)) } ?? .done
    }

    /// The items that a folder will not get, because they seem to be somewhere else in the Inbox.
    private func present(
        _ items: [Int]?, of waiting: WaitingOffer, outside folder: SafeRelativePath
    ) -> [AcceptedLine.Present] {
        let offered = waiting.offer.items
        return (items ?? Array(offered.indices)).prefix(AcceptedLine.maximumPresent).compactMap { number in
            guard let arrival = earlier.latest(offered[number], from: waiting.peer),
                arrival.destination.folder != folder
            else { return nil }
            return AcceptedLine.Present(
                name: offered[number].name.text, arrival: arrival.holder.value, stored: arrival.stored.name.text)
        }
    }

    func block(_ number: Int) -> ControlReply {
        guard let offer = waiting(number) else { return Self.unknown(number) }
        if let dialect = offer.peer.unprovenBy {
            return .refused(
                "the sender of offer \(number) cannot be blocked: \(dialect.title) proves no key; without --block the offer is declined"
            )
        }
        do {
            try door.block(offer.peer, callingItself: offer.offer.senderName)
        } catch {
            return .refused("\(error)")
        }
        for other in consent.offers where other.peer == offer.peer { consent.answer(other.number, accept: false) }
        return .done
    }

    private func waiting(_ number: Int) -> WaitingOffer? { consent.offers.first { $0.number == number } }

    private static func unknown(_ number: Int) -> ControlReply {
        .unknown("no offer \(number) waits for an answer")
    }
}
