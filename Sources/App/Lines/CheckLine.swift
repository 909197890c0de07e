/// A finding of the doctor: one line for the cause and one for the cure.
package struct CheckLine: Line {
    package static let event = "check"

    package enum Result: String, Encodable, Sendable {
        case ok
        /// Waft works, but not in every way.
        case warning
        /// A cause why machines do not see each other, or why a transfer does not start.
        case problem
    }

    /// The word for the check.
    package let name: String
    package let result: Result
    package let reason: String
    /// The next step; absent if nothing has to be done.
    package let hint: String?

    package init(name: String, result: Result, reason: String, hint: String? = nil) {
        (self.name, self.result, self.reason, self.hint) = (name, result, reason, hint)
    }
}
