/// Why a receiver could not start or go on: one line for the user.
package struct ReceiverError: Error, CustomStringConvertible {
    package enum Code: Sendable {
        /// A setting that the user can change.
        case setting
        /// Another one runs for this user and home.
        case alreadyRunning
        case unexpected
    }

    package let code: Code
    package let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
