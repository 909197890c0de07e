/// Why an offer or a transfer ended without all that was offered. The same in the prompt, the log, `--json` and on the
/// wire of each dialect, as far as that can say it.
package enum EndCause: String, Sendable, Codable, CaseIterable {
    /// The program of the receiver ended, or takes nothing more in this way.
    case receiverStopped
    /// The sender has taken its offer back, or has ended its transfer.
    case senderCancelled
    /// A time ended in which somebody had to answer or to send.
    case timeout
    /// A setting, a limit or a program of the receiver's user stands against it.
    case rule
    /// A person at the receiver said no, or ended it.
    case user
    /// The connection, a disk, the contents or the protocol failed.
    case fault

    /// One line for people of both sides, where no more is known.
    package var words: String {
        switch self {
        case .receiverStopped: "the receiver is stopping"
        case .senderCancelled: "the sender cancelled"
        case .timeout: "nobody answered in time"
        case .rule: "a rule of the receiver stands against it"
        case .user: "the other side said no"
        case .fault: "the connection to the sender ended"
        }
    }

    /// - Parameter time: shown in seconds, rounded up.
    package static func nobodyAnswered(within time: Duration) -> String {
        "nobody answered within \(time.wholeSeconds) s"
    }
}

extension Duration {
    /// Seconds, rounded up.
    package var wholeSeconds: Int64 { components.seconds + (components.attoseconds > 0 ? 1 : 0) }
}

extension ItemVerdict {
    /// The user has as many questions as are shown at a time.
    package static let tooManyOffersWait = ItemVerdict(.busy, reason: "too many offers wait for an answer")

    /// An offer ended before anybody answered.
    package static func unanswered(_ cause: EndCause) -> ItemVerdict {
        ItemVerdict(.expired, reason: cause.words, cause: cause)
    }

    /// The receiver's user has cancelled a transfer that was accepted, in words for the sender.
    static let cancelledByReceiver = ItemVerdict(.declined, reason: "the other side has cancelled the transfer")

    /// The user's refusal, in words for the sender.
    package static let no = ItemVerdict(.declined, reason: EndCause.user.words)

    /// The refusal by a rule of the user that is private: the sender cannot distinguish it from `no`.
    package static let privateRule = ItemVerdict(.declined, reason: no.reason, cause: .rule)

    /// The reason in words for the receiver's own user, who may know whether a person or a rule refused.
    package var reasonHere: String {
        guard answer == .declined, reason == Self.no.reason else { return reason }
        return cause == .rule ? "a rule says no" : "the user said no"
    }

    /// The cause as its sender may know it.
    package var causeForSender: EndCause? { answer == .declined && reason == Self.no.reason ? Self.no.cause : cause }
}

extension ItemVerdict.Answer {
    /// The cause of such an answer, unless another one is said; nil for an acceptance.
    package var usualCause: EndCause? {
        switch self {
        case .accepted: nil
        case .declined: .user
        case .ineligible, .busy: .rule
        case .noRoom: .fault
        case .expired: .timeout
        }
    }
}

extension TransferError {
    /// The receiver's program ended.
    package static let receiverStopped = TransferError(ending: .receiverStopped)
    /// The receiver's user has cancelled the transfer, in words for the sender.
    package static let cancelledByReceiver = TransferError(
        .cancelled, ItemVerdict.cancelledByReceiver.reason, cause: .user)
    /// The sender ended its transfer.
    package static let senderCancelled = TransferError(ending: .senderCancelled)

    /// A transfer that ended before or between its contents.
    package init(ending cause: EndCause) {
        let code: Code =
            switch cause {
            case .receiverStopped: .stopping
            case .senderCancelled, .user: .cancelled
            case .rule: .notAccepted
            case .timeout, .fault: .interrupted
            }
        self.init(code, cause.words, cause: cause)
    }
}

extension TransferError.Code {
    /// The cause of such a fault, unless another one is said.
    package var usualCause: EndCause {
        switch self {
        case .cancelled: .user
        case .stopping: .receiverStopped
        case .notAccepted: .rule
        case .protocolViolation, .sizeMismatch, .digestMismatch, .notAsDeclared, .unsafeName, .noRoom, .storage,
            .changed, .unreadable, .interrupted, .notKept, .unexpected:
            .fault
        }
    }
}
