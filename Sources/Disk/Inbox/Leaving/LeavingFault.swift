import Glibc
import Sharing
import SystemCalls

/// Why an item could not leave the Inbox: one line.
package struct LeavingFault: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// It is not in the Inbox any more.
        case gone
        /// Something else is there now than was received.
        case different
        /// It cannot be put where it should go.
        case destination
        /// The folder where it should go does not exist.
        case noDestination
        /// The name it should get is taken.
        case nameTaken
        case noRoom
        /// What was copied is not what was read.
        case mismatch
        case disk
    }

    package let code: Code
    /// Lower case, not escaped: what failed to happen, to what, why, and where things are now.
    package let message: String

    package var description: String { message }

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// - Parameter what: what failed to happen, to what: `cannot copy report.pdf`.
    init(_ what: String, _ error: SystemError) {
        switch error.number {
        case ENOSPC, EDQUOT, EFBIG: self.init(.noRoom, "\(what): \(error)")
        case ENOENT: self.init(.gone, "\(what): it no longer exists")
        case ELOOP, ENXIO: self.init(.different, "\(what): something that Waft did not store is in its place")
        default: self.init(.disk, "\(what): \(error)")
        }
    }
}
