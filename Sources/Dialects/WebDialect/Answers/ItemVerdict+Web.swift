import NIOHTTP1
import Sharing

extension TransferError {
    /// The HTTP status for this fault.
    var webStatus: HTTPResponseStatus {
        switch code {
        case .protocolViolation, .sizeMismatch, .unsafeName: .badRequest
        case .notAsDeclared: .unsupportedMediaType
        case .notAccepted, .cancelled: .forbidden
        case .noRoom: .insufficientStorage
        case .stopping: .serviceUnavailable
        default: .internalServerError
        }
    }
}

extension ItemVerdict {
    /// The HTTP status for an item that is not taken.
    var webStatus: HTTPResponseStatus {
        switch answer {
        case .accepted, .declined: .forbidden
        case .ineligible: .unsupportedMediaType
        case .noRoom: .insufficientStorage
        case .busy: .serviceUnavailable
        case .expired where cause == .receiverStopped: .serviceUnavailable
        case .expired: .requestTimeout
        }
    }

    /// One line for people with a program.
    var webLine: String {
        // The reason has the cause.
        if answer == .expired, !reason.isEmpty { return PathText.printable(reason) }
        let words =
            switch answer {
            case .accepted, .declined: "declined"
            case .ineligible: "this machine takes no such items"
            case .noRoom: "there is no room for it"
            case .busy: "there is too much to do here; try again in a moment"
            case .expired: EndCause.timeout.words
            }
        return reason.isEmpty ? words : "\(words): \(PathText.printable(reason))"
    }
}
