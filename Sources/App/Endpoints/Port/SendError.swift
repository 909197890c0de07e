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

        /// The cause of such a failure, unless another one is said; nil if no offer was made.
        fileprivate var usualCause: EndCause? {
            switch self {
            case .notFound, .ambiguous, .unfit: nil
            case .unreachable: .fault
            case .noAnswer: .timeout
            case .refused(let code): code.usualCause
            case .cancelled: .senderCancelled
            }
        }
    }

    package let code: Code
    /// One line.
    package let description: String
    /// Whether no other attempt can bring more.
    package let isFinal: Bool
    package let cause: EndCause?
    /// Next steps for the user, one line each.
    package let advice: [String]

    /// - Parameter cause: nil for the usual one of `code`.
    package init(
        _ code: Code, _ description: String, final isFinal: Bool = false, cause: EndCause? = nil, advice: [String] = []
    ) {
        self.code = code
        self.description = description
        self.isFinal = isFinal
        self.advice = advice
        self.cause = cause ?? code.usualCause
    }

    /// The time in which people there could answer an offer is over.
    package static func unanswered(_ peer: String, within time: Duration) -> SendError {
        SendError(.noAnswer, "\(peer): \(EndCause.nobodyAnswered(within: time))", final: true)
    }
}
