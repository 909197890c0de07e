import Control
import Sending
import Sharing

extension EventLine {
    /// The events of `waft offers --watch --json`: those of `waft receive --json`, with fields for the answer.
    init(_ event: ControlEvent) {
        switch event {
        case .ready(let receiver):
            self.init(.ready)
            (id, name, port, inbox) = (receiver.id, receiver.name, receiver.port, receiver.inbox)
        case .offer(let summary):
            self.init(.offer)
            offer = summary.number
            from = Peer(id: summary.peer, name: summary.peerName, contact: summary.asker?.contact)
            via = summary.via
            warning = summary.asker?.warning
            transfer = summary.transfer
            note = summary.note
            (size, free, count) = (summary.size, summary.freeRoom, summary.itemCount)
            items = summary.items.enumerated().map { number, item in
                Item(
                    item: number, name: item.name, kind: item.kind, type: item.type, size: item.size,
                    sizeHint: item.sizeHint, entries: item.entries)
            }
        case .settled(let settled):
            self.init(.answered)
            offer = settled.number
            from = Peer(id: settled.peer, name: settled.peerName, contact: settled.contact)
            via = settled.via
            (transfer, acceptedCount) = (settled.transfer, settled.accepted)
            answers = settled.answers.enumerated().map { number, answer in
                Answer(item: number, answer: answer.answer, reason: answer.reason)
            }
        case .stored(let arrival):
            self.init(.stored, arrival)
        case .opened(let arrival, let answer, let code):
            let state = HandlerAnswer.State(rawValue: answer) ?? .failed
            self.init(EventName(state), arrival)
            (handlerAnswer, exitCode, reason) = (answer, code, state.reason)
        case .left(let arrival, let how, let toward):
            self.init(EventName(how), arrival)
            self.toward = toward.isEmpty ? nil : toward
        case .ended(let transfer, let peer, let fault):
            self.init(fault == nil ? .done : .failed)
            from = peer.map { Peer(id: $0) }
            (self.transfer, reason) = (transfer, fault)
        }
    }

    private init(_ event: EventName, _ arrival: ArrivalSummary) {
        self.init(event)
        from = Peer(id: arrival.peer, name: arrival.peerName, contact: arrival.contact)
        via = arrival.via
        transfer = arrival.transfer
        self.arrival = arrival.arrival
        (item, name, stored, path) = (arrival.item, arrival.name, arrival.stored, arrival.path)
        (type, size, digest, content) = (arrival.type, arrival.size, arrival.digest, arrival.content)
    }
}

extension HandlerAnswer.State {
    /// Why an item was not opened, for programs; nil if it was.
    var reason: String? {
        switch self {
        case .yes: nil
        case .none: "no handler was asked"
        case .no: "no handler wants it"
        case .later, .pending: "its handler wants to be asked again later"
        case .failed: "the handler failed"
        }
    }
}
