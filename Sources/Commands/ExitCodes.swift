package import ArgumentParser
package import Sharing

/// The exit codes of all commands: one table, the contract with scripts. The README shows it.
package enum WaftExit: Int32, Sendable, CaseIterable {
    case done = 0
    case unexpected = 1
    case peerNotFound = 10
    case unreachable = 11
    case declined = 12
    case ineligible = 13
    case noRoom = 14
    case noAnswer = 15
    case handlerSaidNo = 16
    case contentChanged = 17
    case usage = 64
    case inputMissing = 66
    case notRunning = 69
    case interrupted = 130

    package var code: ExitCode { ExitCode(rawValue) }
}

/// An end with a line for the user: what failed to happen and why, and what can be done about it.
package struct CommandFailure: Error, CustomStringConvertible {
    package let exit: WaftExit
    /// One line.
    package let message: String
    /// What to do, where that is known; one line.
    package let hint: String?

    package init(_ exit: WaftExit, _ message: String, hint: String? = nil) {
        self.exit = exit
        self.message = message
        self.hint = hint
    }

    package var description: String { hint.map { "\(message)\n  \($0)" } ?? message }
}

extension WaftExit {
    /// The code for the answer that an item got.
    package init(_ answer: ItemVerdict.Answer) {
        switch answer {
        case .accepted: self = .done
        case .declined, .busy: self = .declined
        case .ineligible: self = .ineligible
        case .noRoom: self = .noRoom
        case .expired: self = .noAnswer
        }
    }

    /// The code for what stood in the way of an accepted item.
    package init(_ fault: TransferFault.Code) {
        switch fault {
        case .noRoom: self = .noRoom
        case .changed, .notKept, .digestMismatch, .sizeMismatch: self = .contentChanged
        case .unreadable: self = .inputMissing
        case .cancelled, .notAccepted: self = .declined
        case .interrupted, .stopping, .protocolViolation: self = .unreachable
        case .unsafeName: self = .ineligible
        case .storage, .unexpected: self = .unexpected
        }
    }

    /// The code for a source that cannot be read.
    package init(_ fault: SourceFault) {
        self = fault.code == .changed ? .contentChanged : .inputMissing
    }
}
