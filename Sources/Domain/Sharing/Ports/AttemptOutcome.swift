/// The result of one call of a handler, as it is kept and shown.
package struct AttemptOutcome: Hashable, Sendable {
    package enum Answer: String, Sendable, Codable, CaseIterable {
        case yes
        case no
        case later
        case failed
    }

    package var answer: Answer
    /// If the handler ended by itself.
    package var exitCode: Int?
    /// If a signal ended it.
    package var signal: Int?
    /// One line for people: `exit code 3`, `out of time after 60 s`. It may quote the handler, so it must be escaped.
    package var reason: String
    /// The end of its standard output and standard error, at most `standardErrorBytes`. Foreign text.
    package var standardError: String

    /// Bytes of standard error that are kept.
    package static let standardErrorBytes = 4_096

    package init(
        _ answer: Answer,
        exitCode: Int? = nil,
        signal: Int? = nil,
        reason: String = "",
        standardError: String = ""
    ) {
        self.answer = answer
        self.exitCode = exitCode
        self.signal = signal
        self.reason = reason
        self.standardError = standardError
    }
}

/// The next step after an attempt.
package enum DeliveryStep: Hashable, Sendable {
    /// The same handler, or the first one at that time, is asked again later.
    case deferred(until: WallTime, since: WallTime, deferrals: Int)
    /// The next handler: this one said no.
    case refused(by: String)
    /// The attempt does not count, since Waft ended it: it is repeated later.
    case again
    /// The delivery stays as it was before: a person had asked for the attempt.
    case unchanged
    /// It is over.
    case ended(DeliveryState)
}
