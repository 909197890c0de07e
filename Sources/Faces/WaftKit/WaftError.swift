import Lines
import Operations

/// Why something was not done.
public struct WaftError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The exit codes of `waft`; `waft help exit-codes` explains them.
    public enum Code: Int, Sendable, CaseIterable {
        case unexpected = 1
        case peerNotFound = 10
        /// Or the connection was lost for good.
        case unreachable = 11
        case declined = 12
        /// A type, a content or a rule stands against it.
        case ineligible = 13
        case noRoom = 14
        /// In time, or busy all the time.
        case noAnswer = 15
        case handlerSaidNo = 16
        case contentChanged = 17
        case locked = 18
        /// What was asked for makes no sense, or a setting is invalid.
        case usage = 64
        /// A file cannot be read, or there is no such offer or item.
        case inputMissing = 66
        /// No receiver is running, or one of another version.
        case notRunning = 69
        case notPermitted = 77
        /// The task was cancelled.
        case interrupted = 130
    }

    /// The kind of failure: an exit code of `waft`.
    public let code: Code
    /// One line. It can have text of the other side: escape it before it is shown in a terminal.
    public let reason: String
    /// Advice in the words of the command line; nil for none.
    public let hint: String?

    /// A failure of the program itself, in the form of the others.
    public init(code: Code, reason: String, hint: String? = nil) {
        (self.code, self.reason, self.hint) = (code, reason, hint)
    }

    /// The reason and, if there is any, the advice.
    public var description: String { hint.map { "\(reason); \($0)" } ?? reason }

    init(_ exit: WaftExit, _ reason: String, hint: String? = nil) {
        self.init(code: Code(rawValue: Int(exit.rawValue)) ?? .unexpected, reason: reason, hint: hint)
    }

    init(_ error: Operations.WaftError) {
        self.init(error.code, ([error.reason] + error.others).joined(separator: "; "), hint: error.hint)
    }

    /// Does something of Operations.
    static func catching<Value>(
        _ body: () async throws(Operations.WaftError) -> Value
    ) async throws(WaftError) -> Value {
        do {
            return try await body()
        } catch {
            throw WaftError(error)
        }
    }
}
