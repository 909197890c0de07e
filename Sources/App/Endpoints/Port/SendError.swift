package import Sharing

/// Why a sending did not come as far as a report.
package struct SendError: Error, Sendable, CustomStringConvertible {
    package enum Code: Sendable {
        case notFound
        /// Several peers go by that name.
        case ambiguous
        case unreachable
        case noAnswer
        /// The receiver refused to talk about it at all.
        case refused(TransferError.Code)
        /// This peer cannot do what the user asked for.
        case unfit
        case cancelled

        /// Whether it may be otherwise a moment later.
        package var isPassing: Bool {
            switch self {
            case .notFound, .ambiguous, .unreachable, .noAnswer: true
            case .refused, .unfit, .cancelled: false
            }
        }
    }

    package let code: Code
    /// One line.
    package let description: String
    /// Whether no other attempt can bring more.
    package let isFinal: Bool

    package init(_ code: Code, _ description: String, final isFinal: Bool = false) {
        self.code = code
        self.description = description
        self.isFinal = isFinal
    }

    /// The time in which people there could answer an offer is over.
    package static func unanswered(_ peer: String, within time: Duration) -> SendError {
        SendError(.noAnswer, "\(peer): \(SilenceWords.nobodyAnswered(within: time))", final: true)
    }
}
