package import Sharing

/// An event of a receiver in this process, for display: its line, and the sender.
package enum ReceiverNews: Sendable {
    /// It can be reached.
    case ready(ReadyLine)
    case offered(OfferLine, Person)
    case answered(AnsweredLine, Verdict, Person)
    /// The contents of accepted items begin.
    case began(OfferLine, Person)
    case moved(ArrivingLine)
    /// An item was stored, or a handler has answered for it.
    case arrival(ArrivalLine, Person)
    case altered(AlteredLine, Person)
    /// A transfer is over.
    case ended(ArrivedLine, Receipt, PeerID)
    case settings(SettingsLine)
    case protection(LockLine)

    /// As `waft receive --json` prints it; nil for an event that other lines say.
    package var line: (any Line)? {
        switch self {
        case .ready(let line): line
        case .offered(let line, _): line
        case .answered(let line, _, _): line
        case .moved(let line): line
        case .arrival(let line, _): line.handlerAnswer == HandlerAnswer.State.none.rawValue ? nil : line
        case .altered(let line, _): line
        case .ended(let line, _, _): line
        case .settings(let line): line
        case .protection(let line): line
        // The progress of the transfer shows it.
        case .began: nil
        }
    }
}
