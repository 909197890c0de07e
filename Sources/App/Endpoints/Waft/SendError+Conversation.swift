import HTTPChannel
import Sharing

extension SendError {
    /// The failure for a transfer that could not be resumed.
    init(afterContents error: any Error, to peer: String) {
        let failure = SendError(error, to: peer)
        if case .cancelled = failure.code {
            self = failure
            return
        }
        // A connected peer that made no progress has not answered. Any other peer counts as unreachable.
        let code: SendError.Code = if case .noAnswer = failure.code { .noAnswer } else { .unreachable }
        self.init(code, "\(failure.description); run the same command to resume")
    }

    /// The failure for an error of the conversation.
    init(_ error: any Error, to peer: String) {
        switch error {
        case let failure as SendError:
            self = failure
        case is CancellationError:
            self.init(.cancelled, "cancelled")
        case let away as BusyError:
            if away.cause == .receiverStopped {
                self.init(.noAnswer, "\(peer) stopped receiving; try again later", cause: away.cause)
                return
            }
            let reason = away.reason.isEmpty ? "" : ": \(away.reason)"
            self.init(.noAnswer, "\(peer) is busy\(reason); try again later, or with a longer --timeout")
        case let fault as TransferError where fault.code == .protocolViolation:
            self.init(.unreachable, "\(peer) does not keep to the protocol: \(fault.message)")
        case let fault as TransferError:
            self.init(.refused(fault.code), "\(peer) refused: \(fault.message)", cause: fault.cause)
        case let fault as HTTPError where fault == .silence:
            self.init(.noAnswer, "no answer from \(peer) in time")
        default:
            self.init(.unreachable, "the connection to \(peer) was lost: \(error)")
        }
    }
}
