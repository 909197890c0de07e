package import Control
package import Lines
package import Sharing

/// Why something that a user wanted was not done. A face escapes the texts, which can be of others.
package struct WaftError: Error, Sendable, Equatable {
    /// The exit code of the command line.
    package let code: WaftExit
    /// One line.
    package let reason: String
    /// Advice, if there is any; one line.
    package let hint: String?
    /// Further reasons, one line each.
    package let others: [String]
    /// The fault of a spoken code.
    package internal(set) var codeFault: CodeFault?

    package init(_ code: WaftExit, _ reason: String, hint: String? = nil, others: [String] = []) {
        (self.code, self.reason, self.hint, self.others) = (code, reason, hint, others)
    }

    /// The task was cancelled.
    static let interrupted = WaftError(.interrupted, "interrupted")
    static let noAnswer = WaftError(.unexpected, "the receiver gave no answer")

    /// - Parameter fault: with all its further faults.
    package init(_ fault: SourceError, hint: String? = nil) {
        self.init(WaftExit(fault), fault.message, hint: hint, others: fault.others)
    }

    /// - Returns: the same error, with the place where its cause stands before it; nil for none.
    package func at(_ place: String?) -> WaftError {
        WaftError(code, place.map { "\($0): \(reason)" } ?? reason, hint: hint, others: others)
    }

    /// - Parameter subject: the word that failed; nil for all of a call.
    package func line(of subject: FailedLine.Subject? = nil) -> FailedLine {
        FailedLine(code, reason, hint: hint, others: others, of: subject)
    }

    package init(_ error: ControlError) {
        switch error.code {
        case .notRunning: self.init(.notRunning, "\(error)", hint: "start one with: waftd, or: waft receive")
        case .denied: self.init(.notPermitted, "\(error)", hint: "run it in a terminal that no handler has opened")
        case .otherVersion: self.init(.notRunning, "\(error)", hint: "restart the receiver")
        // As at the start of a receiver.
        case .pathTooLong: self.init(.usage, "\(error)")
        case .alreadyRunning, .refused, .broken: self.init(.unexpected, "\(error)")
        }
    }
}
