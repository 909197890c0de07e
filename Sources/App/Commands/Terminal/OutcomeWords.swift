import Endpoints
import Sending
import Settings
import Sharing

/// Words for answers and outcomes, for people.
enum OutcomeWords {
    /// - Parameter name: the name for programs; an unknown one is escaped.
    static func of(_ name: String) -> String {
        switch name {
        case "noRoom": "no room"
        case "ineligible": "not eligible"
        case "expired": "no answer"
        case "notSent": "not sent"
        case "unread": "could not be read"
        case "alreadyThere": "already there"
        default: TerminalText.escaped(name, limit: 32)
        }
    }

    /// An answer with its reason, escaped.
    static func line(_ verdict: ItemVerdict) -> String {
        let reason = TerminalText.escaped(verdict.reason)
        // The usual reason is enough; it has the time in it.
        let nobody = "nobody answered"
        let isOwn = reason.hasPrefix(nobody) || [SilenceWords.cancelled, SilenceWords.stopping].contains(reason)
        if verdict.answer == .expired, reason.isEmpty || isOwn {
            return reason.isEmpty ? "\(nobody) in time" : reason
        }
        return of(verdict.answer.rawValue) + (reason.isEmpty ? "" : ": \(reason)")
    }
}
