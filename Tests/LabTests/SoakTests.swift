import Foundation
import Subprocess
import SystemPackage
import Testing

/// The fault harness in its short form; `Scripts/soak` is the long one.
@Suite("The fault harness", .serialized, .timeLimit(.minutes(5)))
struct SoakTests {
    @Test("each item comes once and whole, and nothing is left, whatever is cut, corrupted, killed, full or read-only")
    func short() async throws {
        try await run("soak.py", ["--faults", "40", "--largest", "24"])
    }

    @Test("nor is there a third state, or anything left, wherever the receiver is stopped on its way over the disk")
    func everyCall() async throws {
        try await run("crash.py", ["--stopper", Programs.diskSteps, "--sample", "2"])
    }

    @Test("and what the sender was told is there is there after a power cut, which leaves what was synced and no more")
    func powerCut() async throws {
        // Every state is looked at; on some a receiver is started. That faults would be found is shown by planting some.
        try await run("powercut.py", ["--stopper", Programs.diskSteps, "--sample", "3", "--self-test"])
    }

    /// - Parameter script: in `Scripts/soak.d`; it says which seed it has, by which it does the same again.
    private func run(_ script: String, _ words: [String]) async throws {
        let root = URL(fileURLWithPath: Programs.lab).deletingLastPathComponent().path
        let seed = UInt32.random(in: 0...UInt32.max)
        let result = try await Subprocess.run(
            .name("python3"),
            arguments: Arguments(
                ["-B", "\(root)/soak.d/\(script)", "--program", Programs.waft, "--seed", String(seed)] + words),
            input: .none, output: .string(limit: 1 << 20), error: .string(limit: 1 << 20))
        #expect(result.terminationStatus.isSuccess, "\(result.standardOutput)\n\(result.standardError)")
        // What was tried is part of the result: without root no disk was full.
        print(result.standardOutput)
    }
}
