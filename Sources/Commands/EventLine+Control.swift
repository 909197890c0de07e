import Control

extension EventLine {
    /// What `waft offers --watch --json` prints: the events of `waft receive --json`, with what is needed to answer.
    init(_ event: ControlEvent) {
        switch event {
        case .ready(let receiver):
            self.init("ready")
            (id, name, port, inbox) = (receiver.id, receiver.name, receiver.port, receiver.inbox)
        case .offer(let summary):
            self.init("offer")
            offer = summary.number
            from = Peer(id: summary.peer ?? summary.peerID, name: summary.peerName, contact: summary.asker?.contact)
            warning = summary.asker?.warning
            transfer = summary.transfer
            note = summary.note
            (size, free, count) = (summary.size, summary.freeRoom, summary.itemCount)
            items = summary.items.enumerated().map { number, item in
                Item(
                    item: number, name: item.name, kind: item.kind, type: item.type, size: item.size,
                    entries: item.entries)
            }
        case .settled(let settled):
            self.init("answered")
            offer = settled.number
            from = Peer(id: settled.peer, name: settled.peerName, contact: settled.contact)
            (transfer, count) = (settled.transfer, settled.accepted)
            answers = settled.answers.enumerated().map { number, answer in
                Answer(item: number, answer: answer.answer, reason: answer.reason)
            }
        case .stored(let arrival):
            self.init("stored", arrival)
        case .opened(let arrival, let answer, let code):
            self.init(answer == "yes" ? "opened" : answer == "later" ? "deferred" : "failed", arrival)
            (handler, exitCode) = (answer, code)
        case .ended(let transfer, let peer, let fault):
            self.init(fault == nil ? "done" : "failed")
            from = Peer(id: peer)
            (self.transfer, reason) = (transfer, fault)
        }
    }

    private init(_ event: String, _ arrival: ArrivalSummary) {
        self.init(event)
        from = Peer(id: arrival.peer, name: arrival.peerName, contact: arrival.contact)
        transfer = arrival.transfer
        self.arrival = arrival.arrival
        (item, name, stored, path) = (arrival.item, arrival.name, arrival.stored, arrival.path)
        (type, size, digest, content) = (arrival.type, arrival.size, arrival.digest, arrival.content)
    }
}
