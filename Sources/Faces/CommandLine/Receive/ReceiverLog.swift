import Lines
import Logging
import Sharing

/// The log of a daemon. Levels: `info` for normal events, `notice` for starts and ends, `warning` for events that a
/// user may want to examine. Ids and names are logged, but never contents or paths outside the Inbox.
enum ReceiverLog {
    /// - Parameter contactCount: how many contacts the user has; asked for at the start.
    static func write(_ news: ReceiverNews, contactCount: @autoclosure () -> Int, to logger: Logger) {
        switch news {
        case .ready(let line):
            logger.notice(
                "receiving",
                metadata: [
                    "id": "\(PeerID(text: line.id)?.short ?? "-")", "name": "\(TerminalText.escaped(line.name))",
                    "port": "\(line.port)", "inbox": "\(TerminalText.escaped(line.inbox, limit: 400))",
                ])
            logger.notice("\(audience(line.visibility, contacts: contactCount()))")
        case .offered(let line, let sender):
            logger.notice("offer", metadata: metadata(sender, line.transfer, ["items": "\(line.count)"]))
        case .answered(let line, let verdict, let sender):
            if let full = verdict.items.first(where: { $0.answer == .noRoom }) {
                let reason = TerminalText.escaped(full.reason)
                return logger.warning(
                    "no room",
                    metadata: metadata(
                        sender.id, line.transfer, ["reason": "\(reason)", "cause": "\(full.cause?.rawValue ?? "-")"]))
            }
            // This line is the only trace of an offer of which no item is accepted.
            let refused = verdict.items.first { $0.answer != .accepted && $0.reason != ItemVerdict.leftOut.reason }
            let reason = refused.flatMap { $0.reason.isEmpty ? nil : $0.reasonHere } ?? "-"
            let facts: Logger.Metadata = [
                "accepted": "\(line.acceptedCount)", "reason": "\(TerminalText.escaped(reason))",
                "cause": "\(refused?.cause?.rawValue ?? "-")",
            ]
            let isAccepted = line.acceptedCount > 0
            let word = isAccepted ? "accepted" : refused.map { OutcomeWords.of($0.answer.rawValue) } ?? "declined"
            logger.log(
                level: isAccepted ? .info : .notice, "\(word)", metadata: metadata(sender, line.transfer, facts))
        case .arrival(let line, let sender):
            var facts: Logger.Metadata = [
                "name": "\(TerminalText.escaped(line.stored))", "number": "\(line.arrival)",
            ]
            guard let answer = line.handlerAnswer else {
                return logger.notice("stored", metadata: metadata(sender, line.transfer, facts))
            }
            facts["answer"] = "\(answer)"
            facts["exit"] = "\(line.exitCode.map(String.init) ?? "-")"
            let level: Logger.Level = line.change == .opened ? .notice : answer == "none" ? .info : .warning
            logger.log(
                level: level, line.change == .opened ? "opened" : "not opened",
                metadata: metadata(sender, line.transfer, facts))
        case .ended(let line, let receipt, let peer):
            guard let reason = line.reason else { return }
            let facts: Logger.Metadata = [
                "reason": "\(TerminalText.escaped(reason))",
                "cause": "\((line.cause ?? receipt.cause)?.rawValue ?? "-")",
            ]
            logger.warning("transfer ended", metadata: metadata(peer, line.transfer, facts))
        case .altered(let line, let sender):
            let facts: Logger.Metadata = [
                "entry": "\(TerminalText.escaped(line.name, limit: 200))",
                "reason": "\(TerminalText.escaped(line.reason, limit: 400))",
            ]
            logger.notice("altered", metadata: metadata(sender.id, line.transfer, facts))
        case .began, .moved, .settings, .protection:
            break
        }
    }

    /// Tells which peers can find this machine, and how to change that.
    private static func audience(_ visibility: String, contacts: Int) -> String {
        switch visibility {
        case "off": "visible to nobody; to change that: waft visible contacts, or: waft visible everyone"
        case "everyone": "visible to everyone on this network"
        case _ where contacts == 0:
            "visible to contacts only, and there are none: nobody sees this machine; to change that: "
                + "waft visible everyone, or: waft pair --accept"
        default: "visible to contacts only (\(contacts)); to change that: waft visible everyone"
        }
    }

    /// With the sender: a contact by the user's own name, a stranger by the name that it claims.
    private static func metadata(_ sender: Person, _ transfer: String, _ more: Logger.Metadata) -> Logger.Metadata {
        var metadata = metadata(sender.id, transfer, more)
        let introduction = sender.introduction
        metadata[introduction.isContact ? "contact" : "stranger"] =
            "\(TerminalText.escaped(introduction.name, limit: 64))"
        metadata["claims"] = introduction.claims.map { "\(TerminalText.escaped($0, limit: 64))" }
        return metadata
    }

    private static func metadata(_ peer: PeerID, _ transfer: String, _ more: Logger.Metadata) -> Logger.Metadata {
        var metadata: Logger.Metadata = ["peer": "\(peer.shown)", "transfer": "\(transfer)"]
        metadata.merge(more) { _, new in new }
        return metadata
    }
}
