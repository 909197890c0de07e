import Contacts
import Glibc
import Lines
import Logging
import Operations
import Receiving
import ServiceLifecycle
import Sharing

/// The log of a daemon. Levels: `info` for normal events, `notice` for starts and ends, `warning` for events that a
/// user may want to examine. Ids and names are logged, but never contents or paths outside the Inbox.
enum ReceiverLog {
    static func write(_ event: ReceiverEvent, people: Acquaintances, to logger: Logger) {
        switch event {
        case .ready(let id, let name, let port, let inbox, let visibility):
            logger.notice(
                "receiving",
                metadata: [
                    "id": "\(id.short)", "name": "\(TerminalText.escaped(name))", "port": "\(port)",
                    "inbox": "\(TerminalText.escaped(inbox, limit: 400))",
                ])
            logger.notice("\(audience(visibility, contacts: people.contactCount))")
        case .reception(.offered(let offer, let peer)):
            let facts: Logger.Metadata = [
                "items": "\(offer.items.count)"
            ]
            logger.notice(
                "offer", metadata: metadata(peer, offer.transfer, facts, people, calledItself: offer.senderName))
        case .reception(.judged(let offer, let verdict, let peer)):
            let accepted = verdict.items.count { $0.answer == .accepted }
            if let full = verdict.items.first(where: { $0.answer == .noRoom }) {
                let reason = TerminalText.escaped(full.reason)
                return logger.warning(
                    "no room",
                    metadata: metadata(
                        peer, offer.transfer, ["reason": "\(reason)", "cause": "\(full.cause?.rawValue ?? "-")"]))
            }
            // This line is the only trace of an offer of which no item is accepted.
            let refused = verdict.items.first { $0.answer != .accepted && $0.reason != ItemVerdict.leftOut.reason }
            let reason = refused.flatMap { $0.reason.isEmpty ? nil : $0.reasonHere } ?? "-"
            let facts: Logger.Metadata = [
                "accepted": "\(accepted)", "reason": "\(TerminalText.escaped(reason))",
                "cause": "\(refused?.cause?.rawValue ?? "-")",
            ]
            let word = accepted > 0 ? "accepted" : refused.map { OutcomeWords.of($0.answer.rawValue) } ?? "declined"
            logger.log(
                level: accepted == 0 ? .notice : .info, "\(word)",
                metadata: metadata(peer, offer.transfer, facts, people, calledItself: offer.senderName))
        case .reception(.stored(let arrival)):
            let facts: Logger.Metadata = [
                "name": "\(TerminalText.escaped(arrival.stored.name.text))", "number": "\(arrival.number)",
            ]
            logger.notice("stored", metadata: metadata(arrival, facts, people))
        case .reception(.opened(let arrival, let answer)):
            let level: Logger.Level = answer.state == .yes ? .notice : answer.state == .none ? .info : .warning
            let facts: Logger.Metadata = [
                "number": "\(arrival.number)",
                "name": "\(TerminalText.escaped(arrival.stored.name.text))", "answer": "\(answer.state.rawValue)",
                "exit": "\(answer.exitCode.map(String.init) ?? "-")",
            ]
            let event: Logger.Message = answer.state == .yes ? "opened" : "not opened"
            logger.log(level: level, event, metadata: metadata(arrival, facts, people))
        case .reception(.ended(let id, let peer, let receipt, let fault)):
            guard let line = fault?.message ?? receipt.failures else { return }
            let reason = TerminalText.escaped(line)
            let facts: Logger.Metadata = [
                "reason": "\(reason)", "cause": "\((fault?.cause ?? receipt.cause)?.rawValue ?? "-")",
            ]
            logger.warning("transfer ended", metadata: metadata(peer, id, facts))
        case .remarked(let offer, let peer, let entry, let reason):
            let facts: Logger.Metadata = [
                "entry": "\(TerminalText.escaped(entry, limit: 200))",
                "reason": "\(TerminalText.escaped(reason, limit: 400))",
            ]
            logger.notice("altered", metadata: metadata(peer, offer.transfer, facts))
        case .reception(.began), .reception(.progressed), .settings, .protection:
            break
        }
    }

    /// Tells which peers can find this machine, and how to change that.
    private static func audience(_ visibility: Visibility, contacts: Int) -> String {
        switch visibility {
        case .off: "visible to nobody; to change that: waft visible contacts, or: waft visible everyone"
        case .everyone: "visible to everyone on this network"
        case .contacts where contacts == 0:
            "visible to contacts only, and there are none: nobody sees this machine; to change that: "
                + "waft visible everyone, or: waft pair --accept"
        case .contacts: "visible to contacts only (\(contacts)); to change that: waft visible everyone"
        }
    }

    private static func metadata(
        _ arrival: Arrival, _ more: Logger.Metadata, _ people: Acquaintances
    ) -> Logger.Metadata {
        metadata(arrival.peer, arrival.transfer, more, people, calledItself: arrival.senderName)
    }

    /// With the sender: a contact by the user's own name, a stranger by the name that it claims.
    private static func metadata(
        _ peer: PeerID, _ id: TransferID, _ more: Logger.Metadata, _ people: Acquaintances, calledItself name: String
    ) -> Logger.Metadata {
        var metadata = metadata(peer, id, more)
        let introduction = people.person(peer, callingItself: name).introduction
        metadata[introduction.isContact ? "contact" : "stranger"] =
            "\(TerminalText.escaped(introduction.name, limit: 64))"
        metadata["claims"] = introduction.claims.map { "\(TerminalText.escaped($0, limit: 64))" }
        return metadata
    }

    private static func metadata(_ peer: PeerID, _ id: TransferID, _ more: Logger.Metadata) -> Logger.Metadata {
        var metadata: Logger.Metadata = ["peer": "\(peer.shown)", "transfer": "\(id)"]
        metadata.merge(more) { _, new in new }
        return metadata
    }
}
