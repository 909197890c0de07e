import Foundation
import Subprocess
import SystemPackage
import Testing

/// A process keeps its executor for good, so a separate program runs each scenario.
@Suite("The programs' own executor", .timeLimit(.minutes(1)))
struct ProgramExecutorTests {
    /// - Returns: the answer of `executor-probe` to a scenario, and its threads.
    private func probe(_ scenario: String) async throws -> (answer: String, threads: [String]) {
        let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        let program = tests.deletingLastPathComponent().appendingPathComponent("executor-probe").path
        let result = try await Subprocess.run(
            .path(.init(program)), arguments: [scenario], output: .string(limit: 64 << 10), error: .discarded)
        let lines = result.standardOutput.split(separator: "\n").map(String.init)
        return (lines.first ?? "nothing, \(result.terminationStatus)", Array(lines.dropFirst()))
    }

    @Test(
        "does what tasks expect of one, without a thread of libdispatch's",
        arguments: [
            ("sleep", "slept"), ("cancel", "cancelled"), ("blocked", "free"), ("many", "49995000"), ("main", "main"),
        ])
    func scenarios(scenario: String, answer: String) async throws {
        let said = try await probe(scenario)
        #expect(said.answer == answer)
        #expect(!said.threads.isEmpty)
        // libdispatch names threads by the queue, `com.apple.root.default-qos`; fifteen bytes are kept.
        #expect(said.threads.filter { $0.contains("qos") || $0.contains("overcommit") } == [])
    }
}
