import Control
import Outbox
import Sending
import Sharing

extension WaftExit {
    /// The code for the failure of a job.
    init(_ code: OutboxJobError.Code) {
        switch code {
        case .peerNotFound: self = .peerNotFound
        case .unreachable: self = .unreachable
        case .declined: self = .declined
        case .ineligible: self = .ineligible
        case .noRoom: self = .noRoom
        case .noAnswer, .expired: self = .noAnswer
        case .handlerSaidNo: self = .handlerSaidNo
        case .changed: self = .contentChanged
        case .inputMissing: self = .inputMissing
        case .unexpected: self = .unexpected
        }
    }
}
