import Foundation
import Subprocess
import SystemPackage
import Testing

/// The fault harness in its short form; `Scripts/soak` is the long one.
@Suite("The fault harness", .serialized, .timeLimit(.minutes(5)))
struct SoakTests {
    @Test(
        "each item comes once and whole, and nothing is left, after any cut, corruption, kill, full or read-only disk")
    func short() async throws {
        try await run("soak.py", ["--faults", "40", "--largest", "24"])
    }

    @Test(
        "each item is wholly there or not, and nothing is left, after any system call that changes the receiver's disk")
    func everyCall() async throws {
        try await run("crash.py", ["--stopper", Programs.diskSteps, "--sample", "2"])
    }

    @Test(
        "each sealed item is wholly there or not, after any system call that changes the receiver's disk",
        .enabled(if: ProcessInfo.processInfo.environment["TEST_ALL"] != nil))
    func everyCallSealed() async throws {
        try await run("crash.py", ["--stopper", Programs.diskSteps, "--course", "sealed", "--sample", "10"])
    }

    @Test("every item that was reported to the sender is there after a power cut, which keeps only synced data")
    func powerCut() async throws {
        // All states are checked; a receiver is started on some. The self-test plants faults, which must be found.
        try await run("powercut.py", ["--stopper", Programs.diskSteps, "--sample", "3", "--self-test"])
    }

    /// - Parameter script: in `Scripts/soak.d`; it prints its seed, with which it repeats the same run.
    private func run(_ script: String, _ words: [String]) async throws {
        let root = URL(fileURLWithPath: Programs.lab).deletingLastPathComponent().path
        let seed = UInt32.random(in: 0...UInt32.max)
        let result = try await Subprocess.run(
            .name("python3"),
            arguments: Arguments(
                ["-B", "\(root)/soak.d/\(script)", "--program", Programs.waft, "--seed", String(seed)] + words),
            input: .none, output: .string(limit: 1 << 20), error: .string(limit: 1 << 20))
        #expect(result.terminationStatus.isSuccess, "\(result.standardOutput)\n\(result.standardError)")
        // The list of attempts is part of the result: without root, no disk was full.
        print(result.standardOutput)
    }
}
