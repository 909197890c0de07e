import Sharing
import SystemCalls

/// Why the contacts could not be read or changed.
package struct ContactError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error, from which commands choose an exit code.
    package enum Code: Hashable, Sendable {
        /// No contact has this name or key.
        case unknownContact
        /// No group has this name.
        case unknownGroup
        /// Several keys begin with the given text.
        case ambiguous
        /// The given value cannot be used: a name, a duration, a limit, a rule.
        case unfit
        /// Another contact has the name.
        case nameTaken
        /// The peer is blocked. It must be unblocked first.
        case blocked
        /// The maximum number is reached.
        case full
        /// The file exists but is invalid, and its copy cannot be used either. Both are left unchanged.
        case damaged
        /// The disk could not be read or written.
        case storage
    }

    package let code: Code
    /// One line, lower case: the action that failed, and why.
    package let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    static func unfit(_ reason: String) -> ContactError { ContactError(.unfit, reason) }

    static func damaged(_ path: String, _ reason: String) -> ContactError {
        ContactError(
            .damaged,
            "\(path) cannot be used and was left as it is: \(reason); put a good copy in its place, or move all files of "
                + "that name away to start without contacts")
    }

    static func unreadable(_ path: String, _ error: SystemError) -> ContactError {
        ContactError(.storage, "\(path) could not be read: \(error)")
    }

    static func unwritable(_ path: String, _ error: SystemError) -> ContactError {
        ContactError(.storage, "\(path) could not be written: \(error)")
    }
}

extension ContactError {
    init(_ path: String, limit: Int, _ fault: SmallFile.AccessError) {
        self =
            switch fault {
            case .missing: .unreadable(path, SystemError(2))
            case .link: .damaged(path, "it is a link")
            case .notRegular: .damaged(path, "it is not a regular file")
            case .tooLarge: .damaged(path, "it is larger than \(limit >> 10) KiB")
            case .system(let error): .unreadable(path, error)
            }
    }
}

extension String {
    /// A text of a user or a file, made fit for one line of output, and cut to a length that is enough to recognise it.
    var quoted: String { "\"\(ShownText.line(self, limit: 64))\"" }
}
