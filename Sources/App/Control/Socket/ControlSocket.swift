import Foundation

/// The socket on which a receiver listens for its user's commands.
package struct ControlSocket: Sendable, Hashable {
    package let path: String
    /// Path of the secret (`ControlSecret`), a file that only the user's own programs can read.
    var secretPath: String { path + ".secret" }

    /// Bytes that fit into a Unix socket's address, its final NUL not counted.
    package static let maximumPathBytes = 107

    /// - Parameter folder: the run folder.
    /// - Throws: `ControlError.pathTooLong`.
    package init(folder: String) throws(ControlError) {
        path = folder + "/control"
        guard path.utf8.count <= Self.maximumPathBytes else { throw .pathTooLong(path) }
    }
}

/// Why the control socket cannot be used.
package struct ControlError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        case pathTooLong
        /// No receiver listens there.
        case notRunning
        /// A receiver listens there already.
        case alreadyRunning
        /// The receiver answers, but does not carry out the request.
        case refused
        /// The receiver takes no commands from this program.
        case denied
        case broken
        /// A receiver of another version of Waft listens there.
        case otherVersion
    }

    package let code: Code
    package let description: String

    static func pathTooLong(_ path: String) -> ControlError {
        ControlError(
            code: .pathTooLong,
            description:
                "the control socket's path has \(path.utf8.count) bytes and \(ControlSocket.maximumPathBytes) are "
                + "the most that Linux takes; choose a shorter WAFT_HOME or XDG_RUNTIME_DIR: \(path)"
        )
    }
    static func notRunning(_ path: String) -> ControlError {
        ControlError(code: .notRunning, description: "no receiver is running here (nothing listens on \(path))")
    }
    static func alreadyRunning(_ path: String) -> ControlError {
        ControlError(
            code: .alreadyRunning,
            description: "a receiver is running already for this user and home (it listens on \(path))"
        )
    }
    static var otherVersion: ControlError {
        ControlError(
            code: .otherVersion,
            description: "the receiver that is running is of another version of Waft than this command")
    }
    static func refused(_ reason: String) -> ControlError { ControlError(code: .refused, description: reason) }
    static func denied(_ reason: String) -> ControlError { ControlError(code: .denied, description: reason) }
    static func broken(_ what: String) -> ControlError { ControlError(code: .broken, description: what) }
}
