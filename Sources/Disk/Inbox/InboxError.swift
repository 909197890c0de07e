/// The reason why an Inbox cannot be used at all.
package struct InboxError: Error, Hashable, Sendable, CustomStringConvertible {
    private enum Code: Hashable, Sendable {
        case inUse
        case unusable
    }

    private let code: Code
    /// One line for the user: the failure, the path, the reason, and advice.
    package let message: String

    package var description: String { message }

    /// Whether another receiver has the Inbox.
    package var isInUse: Bool { code == .inUse }

    /// - Parameter process: the number of the process that has the Inbox; nil if unknown.
    static func inUse(_ path: String, process: Int32?) -> InboxError {
        let holder = process.map { "process \($0)" } ?? "another process"
        return InboxError(
            code: .inUse,
            message: "the Inbox \(path) is in use by another receiver (\(holder)): stop that one, or use another Inbox"
        )
    }

    /// - Parameters:
    ///   - what: the step that failed, such as "cannot open".
    ///   - advice: the next step for the user.
    static func unusable(_ what: String, _ path: String, _ why: String, advice: String) -> InboxError {
        InboxError(code: .unusable, message: "\(what) \(path): \(why); \(advice)")
    }
}
