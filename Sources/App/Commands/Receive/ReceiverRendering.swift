import Contacts
import ContentCheck
import Digests
import Endpoints
import Receiving
import Sending
import Settings
import Sharing
import UniformTypes

/// Shows what happens at a receiver: for people, or as JSON events.
struct ReceiverRendering: Sendable {
    private let json: Bool
    private let people: Acquaintances
    private let throttle = Throttle()
    private let courses = ReceivingCourses()

    init(json: Bool, people: Acquaintances) {
        self.json = json
        self.people = people
    }

    func show(_ event: ReceiverEvent) {
        if case .reception(.progressed) = event, !throttle.isDue() { return }
        json ? showJSON(event) : showText(event)
    }

    // MARK: For people

    private func showText(_ event: ReceiverEvent) {
        switch event {
        case .ready(let id, let name, let port, let inbox, _):
            Console.shared.note("Receiving as \(TerminalText.escaped(name)) (\(id.short)) on port \(port),")
            Console.shared.note("into \(TerminalText.escaped(inbox, limit: 400)). From another machine:")
            Console.shared.note("  waft send FILE --to \(TerminalText.shellWord(name))")
        case .reception(.stored(let arrival)):
            Console.shared.result { [people] in
                let name = TerminalText.escaped(arrival.stored.name.text)
                let sender = people.line(arrival.peer, callingItself: arrival.senderName)
                return "\(name)  \(ByteCount.text(arrival.size)) from \(sender)"
            }
            if let content = arrival.content, [.lying, .mislabelled].contains(content.outcome) {
                Console.shared.note("  \(content.outcome.rawValue): \(TerminalText.escaped(content.explanation))")
            }
            if arrival.item.kind == .text, Console.shared.isInteractive {
                for line in ShownContents.lines(ofTextAt: arrival.stored.path) { Console.shared.note("  \(line)") }
            }
        case .reception(.opened(let arrival, let answer)) where ![.yes, .none].contains(answer.state):
            let code = answer.exitCode.map { " (exit code \($0))" } ?? ""
            let name = TerminalText.escaped(arrival.stored.name.text)
            let said =
                switch answer.state {
                case .no: "no handler wants \(name)\(code)"
                case .later: "the handler of \(name) will be asked again later\(code)"
                default: "the handler of \(name) failed\(code)"
                }
            Console.shared.note("  \(said); see: waft inbox show \(arrival.number)")
        case .reception(.judged(let offer, let verdict, let peer)) where !verdict.acceptsAnything:
            Console.shared.note(
                "  offer of \(people.line(peer, callingItself: offer.senderName)): \(Self.refusal(verdict))")
        case .reception(.began(let offer, let peer)):
            courses.begin(offer, from: people.introduction(of: peer, callingItself: offer.senderName))
        case .reception(.progressed(let id, _, let received, let total)) where total > 0:
            if let text = courses.text(id, received, of: total) { Console.shared.status(text) }
        case .reception(.ended(let id, let peer, let receipt, let fault)):
            let sender = courses.end(id) ?? peer.shown
            Console.shared.endStatus()
            for name in ShownContents.names(alreadyThere: receipt) { Console.shared.note("  already here: \(name)") }
            if let fault {
                Console.shared.note("  transfer from \(sender) ended: \(TerminalText.escaped(fault.message))")
            } else if let failure = receipt.failures {
                Console.shared.note("  from \(sender): \(TerminalText.escaped(failure))")
            }
        case .remarked(_, _, let entry, let reason):
            Console.shared.note(
                "  \(TerminalText.escaped(entry, limit: 200)): \(TerminalText.escaped(reason, limit: 400))")
        default: break
        }
    }

    /// Why nothing is accepted: the reason of an item that is refused for itself before that of those that go with it.
    private static func refusal(_ verdict: Verdict) -> String {
        let answer = verdict.items.first { $0.reason != ItemVerdict.leftOut.reason } ?? verdict.items.first
        // The reason of the user's own no is for the sender.
        guard let answer, answer != ConsentQueue.no else { return "declined" }
        return OutcomeWords.line(answer)
    }

    // MARK: For programs

    private func showJSON(_ event: ReceiverEvent) {
        switch event {
        case .ready(let id, let name, let port, let inbox, _):
            var line = EventLine(.ready)
            (line.id, line.name, line.port, line.inbox) = (id.text, name, port, inbox)
            line.print()
        case .reception(.offered(let offer, let peer)):
            var line = EventLine(.offer)
            (line.from, line.via) = (people.document(peer, callingItself: offer.senderName), offer.dialect.name)
            line.transfer = offer.transfer.text
            line.note = offer.annotation["note"]
            line.size = offer.knownSize
            line.items = offer.items.prefix(EventLine.shownItems).enumerated().map(EventLine.Item.init)
            line.count = offer.items.count
            line.print()
        case .reception(.judged(let offer, let verdict, let peer)):
            var line = EventLine(.answered)
            (line.from, line.via) = (people.document(peer, callingItself: offer.senderName), offer.dialect.name)
            line.transfer = offer.transfer.text
            line.acceptedCount = verdict.items.count { $0.answer == .accepted }
            line.answers = verdict.items.prefix(EventLine.shownItems).enumerated().map { number, item in
                EventLine.Answer(item: number, answer: item.answer.rawValue, reason: item.reason)
            }
            line.print()
        case .reception(.stored(let arrival)):
            Console.shared.result { line(.stored, arrival).text }
        case .reception(.opened(let arrival, let answer)):
            guard answer.state != .none else { return }
            var line = line(EventName(answer.state), arrival)
            (line.handlerAnswer, line.exitCode) = (answer.state.rawValue, answer.exitCode)
            line.reason = answer.state.reason
            line.print()
        case .reception(.ended(let id, let peer, let receipt, let fault)):
            var line = EventLine(fault == nil ? .done : .failed)
            line.from = EventLine.peer(peer)
            (line.transfer, line.reason) = (id.text, fault?.message ?? receipt.failures)
            line.print()
        case .reception(.progressed(let id, let peer, let received, let total)):
            var line = EventLine(.progress)
            line.from = EventLine.peer(peer)
            (line.transfer, line.bytes, line.total) = (id.text, received, total)
            line.print()
        case .remarked(let offer, let peer, let entry, let reason):
            var line = EventLine(.altered)
            (line.from, line.via) = (people.document(peer, callingItself: offer.senderName), offer.dialect.name)
            (line.transfer, line.name, line.reason) = (offer.transfer.text, entry, reason)
            line.print()
        case .reception(.began):
            // The progress of the transfer shows this.
            break
        }
    }

    private func line(_ event: EventName, _ arrival: Arrival) -> EventLine {
        var line = EventLine(event)
        line.from = people.document(arrival.peer, callingItself: arrival.senderName)
        line.via = arrival.dialect.name
        line.transfer = arrival.transfer.text
        line.arrival = arrival.number.value
        line.item = arrival.itemNumber
        line.name = arrival.item.name.text
        line.stored = arrival.stored.name.text
        line.path = arrival.stored.path
        line.type = arrival.item.type.identifier
        line.size = arrival.size
        line.digest = arrival.digest.description
        line.content = arrival.content?.outcome.rawValue
        return line
    }
}

extension EventLine.Item {
    init(_ number: Int, _ item: OfferedItem) {
        self.init(
            item: number,
            name: item.name.text,
            kind: item.kind.rawValue,
            type: item.type.identifier,
            size: item.size,
            sizeHint: item.sizeHint,
            entries: item.kind == .tree ? item.entries : nil
        )
    }
}
