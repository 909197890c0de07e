import Control
import Sharing

extension EventLine {
    /// The line of a lock that begins or ends, or of an unlock.
    init(_ report: ProtectionReport) {
        let state = ProtectionFields.State(report)
        self = report.isLocking == true ? .locking(state) : report.isUnlocked ? .unlocked(state) : .locked(state)
    }

    /// The events of `waft offers --watch --json`: those of `waft receive --json`, with fields for the answer.
    init(_ event: ControlEvent) {
        switch event {
        case .ready(let receiver):
            self = .ready(Ready(id: receiver.id, name: receiver.name, port: receiver.port, inbox: receiver.inbox))
        case .offer(let summary):
            self = .offer(ReceivedOffer(summary))
        case .settled(let settled), .acceptedUnasked(let settled):
            let answers = settled.answers.enumerated().map { number, answer in
                Answer(item: number, answer: answer.answer, reason: answer.reason, cause: answer.cause)
            }
            self = .answered(
                .received(
                    offer: settled.number, Sender(settled), items: settled.items.map(EventLine.Item.of),
                    Answers(answers: answers, acceptedCount: settled.accepted, count: settled.itemCount)))
        case .progress(let transfer, let peer, let bytes, let total):
            self = .progress(.received(Transfer(transfer, from: peer), Course(bytes: bytes, total: total)))
        case .stored(let arrival):
            self = .stored(.received(Arrived(arrival)))
        case .opened(let arrival, let answer, let code):
            let reply = HandlerReply(handlerAnswer: answer, exitCode: code)
            self.init(Arrived(arrival), HandlerAnswer.State(rawValue: answer) ?? .failed, reply)
        case .left(let arrival, let how, let toward):
            self.init(.watched(Arrived(arrival)), how, toward: toward)
        case .settings(let report):
            self = .settings(SettingsState(report))
        case .visibility(let report):
            self = .visibility(VisibleCommand.Fields(report))
        case .contacts:
            self = .contacts
        case .protection(let report):
            self.init(report)
        case .ended(let transfer, let peer, let fault, let cause):
            self.init(ended: Transfer(transfer, from: peer), fault: fault.map { End(reason: $0, cause: cause) })
        }
    }
}
