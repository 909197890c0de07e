import TestSupport
import Testing

/// Checks that all programs that tests run with `--json` keep the contract.
enum LineContracts {
    /// Whether the arguments ask a program for JSON lines.
    static func apply(to program: String, _ words: [String]) -> Bool {
        [Programs.waft, Programs.waftd].contains(program) && words.prefix { $0 != "--" }.contains("--json")
    }

    /// - Parameter output: the program's standard output.
    static func hold(_ output: some StringProtocol, of words: [String]) {
        hold(output.split(separator: "\n"), of: words)
    }

    static func hold(_ lines: some Sequence<some StringProtocol>, of words: [String]) {
        for fault in LineContract.shared.faults(in: lines) {
            Issue.record("a line of \(words.prefix(6).joined(separator: " ")) is not as the schema has it: \(fault)")
        }
    }
}
