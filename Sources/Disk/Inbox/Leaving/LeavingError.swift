import Glibc
import Sharing
import SystemCalls

/// The reason why an item could not leave the Inbox, in one line.
package struct LeavingError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Hashable, Sendable {
        /// The item is not in the Inbox any more.
        case gone
        /// Something else is there now than was received.
        case different
        /// The item cannot be put into the target folder.
        case destination
        /// The target folder does not exist.
        case noDestination
        /// The new name is taken, or cannot be used.
        case nameTaken
        case noRoom
        /// It is sealed, and its key is not in memory.
        case locked
        /// The copy differs from the item that was read, or no key opens the item.
        case mismatch
        case disk
    }

    package let code: Code
    /// Lower case, not escaped: the step that failed, its item, the reason, and where things are now.
    package let message: String

    package var description: String { message }

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// - Parameter code: the raw value of one; another one counts as `disk`.
    package init(code: String, _ message: String) { self.init(Code(rawValue: code) ?? .disk, message) }

    init(_ what: String, _ error: SealedFileError) {
        switch error {
        case .locked: self.init(.locked, "\(what): \(error)")
        case .closed: self.init(.disk, "\(what): \(error)")
        case .foreign, .damaged: self.init(.mismatch, "\(what): \(error)")
        case .system(let cause): self.init(what, cause)
        }
    }

    init(_ what: String, _ error: StoredDigestError) {
        let code: Code =
            switch error.code {
            case .gone: .gone
            case .different: .different
            case .locked: .locked
            case .unreadable, .cancelled: .disk
            }
        self.init(code, "\(what): \(error.message)")
    }

    init(_ what: String, _ error: TransferError) {
        let code: Code =
            switch error.code {
            case .noRoom: .noRoom
            case .unsafeName: .nameTaken
            // The lock came meanwhile.
            case .stopping: .locked
            default: .disk
            }
        self.init(code, "\(what): \(error.message)")
    }

    /// - Parameter what: the step that failed, with its item: `cannot copy report.pdf`.
    init(_ what: String, _ error: SystemError) {
        switch error.number {
        case ENOSPC, EDQUOT, EFBIG: self.init(.noRoom, "\(what): \(error)")
        case ENOENT: self.init(.gone, "\(what): it no longer exists")
        case ELOOP, ENXIO: self.init(.different, "\(what): something that Waft did not store is in its place")
        default: self.init(.disk, "\(what): \(error)")
        }
    }
}
