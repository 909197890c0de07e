/// The result of a check, or of a part of it: one line for the cause and one for the cure.
struct DoctorFinding: Hashable, Sendable {
    enum Result: String, Encodable, Sendable {
        case ok
        /// Waft works, but not in every way.
        case warning
        /// A cause why machines do not see each other, or why a transfer does not start.
        case problem
    }

    let result: Result
    /// One line, not escaped.
    let reason: String
    /// The next step; nil if nothing has to be done. One line, not escaped.
    let hint: String?

    static func ok(_ reason: String) -> DoctorFinding { DoctorFinding(result: .ok, reason: reason, hint: nil) }

    static func warning(_ reason: String, hint: String) -> DoctorFinding {
        DoctorFinding(result: .warning, reason: reason, hint: hint)
    }

    static func problem(_ reason: String, hint: String) -> DoctorFinding {
        DoctorFinding(result: .problem, reason: reason, hint: hint)
    }
}
