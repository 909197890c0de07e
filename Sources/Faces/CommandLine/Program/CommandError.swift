package import ArgumentParser
package import Lines
import Operations
import Settings
package import Sharing

/// A failure with a line for the user: the failed action, its reason, and advice.
package struct CommandError: Error, CustomStringConvertible {
    package let exit: WaftExit
    /// One line.
    package let message: String
    /// Advice, if there is any; one line.
    package let hint: String?
    /// Further reasons, one line each.
    package let others: [String]

    package init(_ exit: WaftExit, _ message: String, hint: String? = nil, others: [String] = []) {
        self.exit = exit
        self.message = message
        self.hint = hint
        self.others = others
    }

    /// Does something with a Waft.
    static func of<Value>(_ body: () throws(WaftError) -> Value) throws(CommandError) -> Value {
        do {
            return try body()
        } catch {
            throw CommandError(error)
        }
    }

    init(_ error: WaftError) {
        self.init(
            error.code, TerminalText.escaped(error.reason, limit: 4_096),
            hint: error.hint.map { TerminalText.escaped($0, limit: 1_000) },
            others: error.others.map { TerminalText.escaped($0, limit: 1_000) })
    }

    /// Does what no more than operations do.
    static func catching<Value>(
        _ body: () async throws(WaftError) -> Value
    ) async throws(CommandError) -> Value {
        do throws(WaftError) {
            return try await body()
        } catch {
            throw CommandError(error)
        }
    }

    /// - Parameter fault: the fault of a source, with all its further faults.
    package init(_ fault: SourceError, hint: String? = nil) {
        self.init(
            WaftExit(fault), TerminalText.escaped(fault.message, limit: 1_000), hint: hint,
            others: fault.others.map { TerminalText.escaped($0, limit: 1_000) })
    }

    init(_ exit: WaftExit, _ error: Settings.InvalidError) { self.init(WaftError(exit, error)) }

    /// - Parameter subject: the word that failed; nil for the whole command.
    func line(of subject: FailedLine.Subject? = nil) -> FailedLine {
        FailedLine(exit, message, hint: hint, others: others, of: subject)
    }

    package var description: String { ([message] + others + [hint].compactMap(\.self)).joined(separator: "\n  ") }
}

extension WaftExit {
    package var code: ExitCode { ExitCode(rawValue) }
}

extension OwnPrograms {
    /// The absolute path of the running program.
    /// - Throws: `CommandError` `unexpected` if it is no longer there.
    static func running() throws(CommandError) -> String {
        do {
            return try path()
        } catch {
            throw CommandError(error)
        }
    }
}
