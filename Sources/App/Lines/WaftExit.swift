package import Outbox
package import Sharing

/// The exit codes of all commands: one table, the contract with scripts. `Scripting.md` shows it.
package enum WaftExit: Int32, Encodable, Sendable, CaseIterable {
    case done = 0
    case unexpected = 1
    case peerNotFound = 10
    case unreachable = 11
    case declined = 12
    case ineligible = 13
    case noRoom = 14
    /// No answer in time, or busy all the time.
    case noAnswer = 15
    case handlerSaidNo = 16
    case contentChanged = 17
    /// The item is sealed, and its key is not in memory; or the passphrase is wrong.
    case locked = 18
    case usage = 64
    /// A file that cannot be read, or a number or name that no offer, arrival, job, contact or handler has.
    case inputMissing = 66
    case notRunning = 69
    case notPermitted = 77
    case interrupted = 130

    /// The meaning for a script, over all commands; the article's table has the same words.
    package var meaning: String {
        switch self {
        case .done: "done; for `send`: stored durably, with `--wait opened`: and a handler said yes"
        case .unexpected: "unexpected failure; for `doctor`: or a problem was found"
        case .peerNotFound: "peer not found"
        case .unreachable: "peer unreachable, or the connection was lost for good"
        case .declined: "declined; for `pair`: or the codes differ, or a message is malformed"
        case .ineligible:
            "not eligible: its type, its content or a rule stands against it; no handler opens it; nothing can be shown"
        case .noRoom: "no room on the disk where it should go"
        case .noAnswer: "no answer in time, or busy until then"
        case .handlerSaidNo: "no handler said yes: it said no or later, it failed, or (`--wait opened`) there is none"
        case .contentChanged: "content changed while sending, or verification failed"
        case .locked: "locked: unlock it with `waft unlock`; or the passphrase is wrong, or this is a drop box"
        case .usage:
            "wrong usage, an invalid setting, or a receiver or a page is there already; help that was not asked for alone"
        case .inputMissing: "an input is missing or unreadable; no such offer, item, job, contact or handler"
        case .notRunning: "no receiver is running, or one of another version"
        case .notPermitted: "not permitted: a handler has started this command, or it cannot read the receiver's secret"
        case .interrupted: "interrupted; the same command resumes the transfer"
        }
    }

    /// The table for `waft help exit-codes`: a terminal of 80 columns does not wrap its lines.
    package static var table: String {
        allCases.map { exit in
            let number = String(exit.rawValue)
            let padding = String(repeating: " ", count: 5 - number.count)
            let lines = lines(exit.meaning.replacing("`", with: ""))
            return "  \(number)\(padding)" + lines.joined(separator: "\n" + String(repeating: " ", count: 7))
        }.joined(separator: "\n")
    }

    /// Columns of the meanings in `table`.
    private static let width = 70

    private static func lines(_ text: String) -> [String] {
        text.split(separator: " ").reduce(into: []) { lines, word in
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(String(word))
            }
        }
    }
}

extension WaftExit {
    /// The code for the answer that an item got.
    package init(_ answer: ItemVerdict.Answer) {
        switch answer {
        case .accepted: self = .done
        case .declined: self = .declined
        case .ineligible: self = .ineligible
        case .noRoom: self = .noRoom
        case .expired, .busy: self = .noAnswer
        }
    }

    /// The code for the fault that stopped an accepted item.
    package init(_ fault: TransferError.Code) {
        switch fault {
        case .noRoom: self = .noRoom
        case .changed, .notKept, .digestMismatch, .sizeMismatch: self = .contentChanged
        case .unreadable: self = .inputMissing
        case .cancelled, .notAccepted: self = .declined
        case .interrupted, .stopping, .protocolViolation: self = .unreachable
        case .unsafeName, .notAsDeclared: self = .ineligible
        case .storage, .unexpected: self = .unexpected
        }
    }

    /// The code for a source that cannot be read.
    package init(_ fault: SourceError) {
        self = fault.code == .changed ? .contentChanged : .inputMissing
    }

    /// The code for the failure of a job.
    package init(_ code: OutboxJobError.Code) {
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
