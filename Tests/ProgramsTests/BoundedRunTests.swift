import Foundation
import Glibc
import TestSupport
import Testing

@testable import Programs

@Suite("A program that runs for a bounded time", .timeLimit(.minutes(1)))
struct BoundedRunTests {
    private func shell(_ script: String) -> Program { Program("/bin/sh", ["-c", script]) }

    @Test("is read on one stream, and its exit is told")
    func read() async throws {
        let program = shell("echo out; echo err >&2; exit 3")
        for (stream, text) in [(Program.ReadStream.output, "out\n"), (.errors, "err\n"), (.nothing, "")] {
            let outcome = try await program.run(reading: stream, limit: 100, within: .seconds(30))
            #expect(outcome.end == .exited(.code(3)))
            #expect(String(decoding: outcome.bytes, as: UTF8.self) == text)
        }
    }

    @Test("and hangs is killed with the programs that it started")
    func hangs() async throws {
        let outcome = try await shell("echo $$; sleep 1000 & sleep 1000").run(
            reading: .output, limit: 100, within: .milliseconds(300))
        #expect(outcome.end == .outOfTime)
        let text = String(decoding: outcome.bytes, as: UTF8.self).trimmingCharacters(in: .newlines)
        let group = try #require(pid_t(text))
        while kill(-group, 0) == 0 { try await Task.sleep(for: .milliseconds(5)) }
    }

    @Test("and writes more than the limit is killed")
    func endless() async throws {
        let outcome = try await shell("yes").run(reading: .output, limit: 65_536, within: .seconds(30))
        #expect(outcome.end == .tooMuch && outcome.bytes.count == 65_536)
    }

    @Test("is not waited for longer because a program that it left holds its stream")
    func left() async throws {
        let outcome = try await shell("sleep 20 & echo $!").run(reading: .output, limit: 100, within: .seconds(15))
        #expect(outcome.end == .exited(.code(0)))
        let text = String(decoding: outcome.bytes, as: UTF8.self).trimmingCharacters(in: .newlines)
        kill(try #require(pid_t(text)), SIGKILL)
    }

    @Test("and may go on is left alone when its time is over, and can write on")
    func goesOn() async throws {
        let folder = TemporaryFolder()
        let outcome = try await shell("read line < \(folder / "gate"); echo more >&2 && touch \(folder / "done")")
            .gated(
                folder / "gate")
        #expect(outcome.end == .outOfTime)
        let gate = open(folder / "gate", O_WRONLY)
        _ = write(gate, "\n", 1)
        close(gate)
        while access(folder / "done", F_OK) != 0 { try await Task.sleep(for: .milliseconds(5)) }
    }
}

extension Program {
    fileprivate func gated(_ gate: String) async throws -> BoundedOutcome {
        mkfifo(gate, 0o600)
        return try await run(reading: .errors, limit: 100, within: .milliseconds(100), goesOn: true)
    }
}
