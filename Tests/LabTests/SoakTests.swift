import Foundation
import Subprocess
import SystemPackage
import Testing

/// The fault harness in its short form; `Scripts/soak` is the long one.
@Suite("The fault harness", .serialized, .timeLimit(.minutes(5)))
struct SoakTests {
    @Test("each item comes once and whole, and nothing is left, whatever is cut, corrupted, killed, full or read-only")
    func short() async throws {
        let root = URL(fileURLWithPath: Programs.lab).deletingLastPathComponent().path
        let seed = UInt32.random(in: 0...UInt32.max)
        let result = try await Subprocess.run(
            .name("python3"),
            arguments: [
                root + "/soak.d/soak.py", "--program", Programs.waft, "--faults", "40", "--largest", "24", "--seed",
                String(seed),
            ],
            input: .none, output: .string(limit: 1 << 20), error: .string(limit: 1 << 20))
        #expect(result.terminationStatus.isSuccess, "\(result.standardOutput)\n\(result.standardError)")
        // What was tried is part of the result: without root no disk was full.
        print(result.standardOutput)
    }
}
