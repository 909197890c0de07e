package import Sharing

/// Words for answers and outcomes, for people. Not escaped: some are of the other side.
package enum OutcomeWords {
    /// - Parameter name: the name for programs.
    package static func of(_ name: String) -> String {
        switch name {
        case "noRoom": "no room"
        case "ineligible": "not eligible"
        case "expired": "no answer"
        case "notSent": "not sent"
        case "unread": "could not be read"
        case "alreadyThere": "already there"
        default: name
        }
    }

    /// An answer with its reason.
    /// - Parameter reason: nil for that of the verdict, which is in words for the sender.
    package static func line(_ verdict: ItemVerdict, _ reason: String? = nil) -> String {
        let reason = reason ?? verdict.reason
        if verdict.answer == .expired, let cause = verdict.cause {
            // The reason may have the time in it. One that the other side has made up does not stand alone.
            if reason.isEmpty { return cause.words }
            if reason == cause.words || cause == .timeout && reason.hasPrefix("nobody answered") { return reason }
        }
        return of(verdict.answer.rawValue) + (reason.isEmpty ? "" : ": \(reason)")
    }
}
