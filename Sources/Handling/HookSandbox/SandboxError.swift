import Glibc

/// Why a hook was not put into its sandbox, or not executed.
package struct SandboxError: Error, Hashable, Sendable, CustomStringConvertible {
    private enum Code: Hashable, Sendable {
        case invalidPlan
        case notRestricted
        case notExecuted
    }

    private let code: Code
    /// One line, lower case.
    package let message: String

    package var description: String { message }

    /// Whether the rules were in force, and only the hook itself could not be executed.
    package var isExecution: Bool { code == .notExecuted }

    static func invalidPlan(_ why: String) -> SandboxError {
        SandboxError(code: .invalidPlan, message: "the plan for the sandbox cannot be used: \(why)")
    }

    static func notRestricted(_ why: String) -> SandboxError {
        SandboxError(code: .notRestricted, message: "the hook could not be sandboxed: \(why)")
    }

    static func notExecuted(_ path: String, _ why: String) -> SandboxError {
        SandboxError(code: .notExecuted, message: "the hook could not be executed: \(path): \(why)")
    }

    /// The words of strerror(3) for the call that has just failed on this thread.
    static var lastCause: String { cause(errno) }

    static func cause(_ number: Int32) -> String { String(cString: strerror(number)) }
}
