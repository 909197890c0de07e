import Foundation
import HookSandbox
import Logging
import Sharing
import TestSupport
import Testing

@testable import Handlers

@Suite("A hook's output", .timeLimit(.minutes(1)))
struct HookOutputTests {
    @Test("the end of both streams is kept, in order, and each line is logged")
    func kept() async throws {
        let place = HookFolder()
        let (logger, messages) = RecordingLog.make()
        let program = place.program(place.script("echo one; echo two >&2; printf '\\033[2Jthree\\n'; exit 3"))
        let outcome = try await place.runner(logger: logger).run(program, .open(.sample(), attempt: 1))
        #expect(outcome.standardError == "one\ntwo\n\u{1b}[2Jthree\n")
        #expect(outcome.reason == "exit code 3")
        let lines = messages.all.filter { $0.hasPrefix("debug") }
        #expect(
            lines == ["one", "two", "\\u{1B}[2Jthree"].map { "debug a handler printed: \($0)" })
    }

    @Test("of long output the end is kept, and bytes that are no text are replaced")
    func bounded() async throws {
        let place = HookFolder()
        var outcome = try await place.run("head -c 100000 /dev/zero | tr '\\0' x; echo end")
        #expect(outcome.standardError.utf8.count == AttemptOutcome.standardErrorBytes)
        #expect(outcome.standardError.hasSuffix("xxend\n"))
        outcome = try await place.run("head -c 9000 /dev/zero | tr '\\0' '\\377'; printf 'a\\0b'")
        #expect(outcome.standardError.utf8.count <= AttemptOutcome.standardErrorBytes)
        #expect(outcome.standardError.hasSuffix("\u{FFFD}a\u{FFFD}b"))
    }

    @Test("a hook that prints without end is not held up, and takes no memory")
    func torrent() async throws {
        let place = HookFolder()
        let before = Self.residentBytes
        let outcome = try await place.run("head -c 536870912 /dev/zero; echo done")
        #expect(outcome.answer == .yes)
        #expect(outcome.standardError.hasSuffix("done\n"))
        #expect(Self.residentBytes - before < 128 << 20)
    }

    private static var residentBytes: Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4096
    }

    @Test("a child that continues to print after the hook has ended is neither killed nor blocked")
    func leftover() async throws {
        let place = HookFolder()
        place.makePipe("alive")
        place.makePipe("gate")
        let alive = place.listen(to: "alive")
        let runner = place.runner()
        let program = place.program(
            place.script(
                "echo early; exec 9> alive; (read line < gate; head -c 10000000 /dev/zero && echo done >&9) & exit 0"))
        let outcome = try await runner.run(program, .open(.sample(), attempt: 1))
        #expect(outcome == AttemptOutcome(.yes, exitCode: 0, standardError: "early\n"))
        #expect(runner.leftovers.count == 1)
        place.release("gate")
        #expect(try await alive.first() == "done")
        try await place.end(of: "alive", alive)
    }

    @Test("of the pipes that children hold only so many are kept, and the oldest is closed")
    func manyLeftovers() async throws {
        let leftovers = LeftoverPipes(limit: 2)
        let closed = Recorder<Int>()
        var writers: [Int32] = []
        var pipes: [DrainedPipe] = []
        for _ in 0..<3 {
            let (pipe, writing) = try DrainedPipe.make { _ in }
            writers.append(writing)
            pipes.append(pipe)
            leftovers.keep(pipe)
        }
        defer { for writer in writers { close(writer) } }
        #expect(pipes.map(\.isAtEnd) == [true, false, false])
        #expect(leftovers.count == 2)
        // The end of another process is noticed.
        pipes[1].whenClosed { closed.record(1) }
        close(writers.remove(at: 1))
        try await closed.first()
        #expect(pipes.map(\.isAtEnd) == [true, true, false])
        pipes[2].close()
    }

    @Test("a pipe that ends is not kept")
    func endedPipe() async throws {
        let leftovers = LeftoverPipes()
        let (pipe, writing) = try DrainedPipe.make { _ in }
        close(writing)
        await pipe.catchUp()
        #expect(pipe.isAtEnd)
        leftovers.keep(pipe)
        #expect(leftovers.count == 0)
    }

    @Test("our own remarks always fit, after the hook's output")
    func remarks() {
        #expect(KeptOutput.text(Array("no line end".utf8), remarks: ["remark"]) == "no line end\nremark\n")
        #expect(KeptOutput.text([], remarks: ["remark"]) == "remark\n")
        let full = KeptOutput.text([UInt8](repeating: 0x78, count: 9_000), remarks: ["remark"])
        #expect(full.utf8.count <= AttemptOutcome.standardErrorBytes)
        #expect(full.hasSuffix("xx\nremark\n"))
        let long = String(repeating: "y", count: 1_500)
        #expect(KeptOutput.text([], remarks: [long, long, "z"]) == long + "\nz\n")
    }

    // MARK: The sandbox

    private static let isLandlocked = HookSandbox.support.abi >= 1

    @Test(
        "a hook that writes where it may not hears which flag to add",
        .enabled(if: isLandlocked, "NOT TESTED: this kernel has no Landlock"))
    func denied() async throws {
        let place = HookFolder()
        let (logger, messages) = RecordingLog.make()
        let body = "echo own > own; echo x > \(place.home)/new; echo y > \(place.inbox)/new; exit 0"
        let script = place.script(body)
        let runner = place.runner(logger: logger)
        let outcome = try await runner.run(
            place.program(script, sandbox: .strict), .open(.sample(), attempt: 1))
        #expect(outcome.answer == .yes)
        #expect(place.text("own") == "own\n")
        #expect(!FileManager.default.fileExists(atPath: place.home + "/new"))
        let remark = "the sandbox seems to have refused a write to \(place.home)/new: to allow it, add "
        #expect(outcome.standardError.contains(remark + "--writable \(place.home)\n"))
        #expect(outcome.standardError.contains("a write to \(place.inbox)/new: files in the Inbox can be read"))
        #expect(messages.all.filter { $0.hasPrefix("warning") }.count == 2)
        // The remark for the configuration's own hook names a setting of the configuration.
        var hook = place.program(script, identifier: HandlerProgram.hookIdentifier, sandbox: .strict)
        let other = try await runner.run(hook, .open(.sample(), attempt: 1))
        #expect(other.standardError.contains(remark + "hookWritable: [\(place.home)] to config.yaml\n"))
        // With the setting, the hook may write there.
        hook.writablePaths = [place.home]
        let allowed = try await runner.run(hook, .open(.sample(), attempt: 1))
        #expect(!allowed.standardError.contains(remark))
        #expect(FileManager.default.fileExists(atPath: place.home + "/new"))
    }

    @Test(
        "in the Inbox a hook can read, remove and move out, and not write",
        .enabled(if: isLandlocked, "NOT TESTED: this kernel has no Landlock"))
    func inbox() async throws {
        let place = HookFolder()
        for name in ["a", "b"] {
            try "A".write(toFile: place.inbox + "/" + name, atomically: false, encoding: .utf8)
        }
        let body = "cat \"\(place.inbox)/a\" > copy; mv \"\(place.inbox)/a\" moved && rm \"\(place.inbox)/b\""
        let outcome = try await place.run(body, sandbox: .strict)
        #expect(outcome.answer == .yes, "\(outcome)")
        #expect(place.text("moved") == "A" && place.text("copy") == "A")
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.inbox).isEmpty)
    }

    @Test("without a sandbox a refused write comes from the file system only")
    func noSandbox() async throws {
        let place = HookFolder()
        let outcome = try await place.run("echo 'cp: cannot create \(place.home)/x: Permission denied' >&2")
        #expect(!outcome.standardError.contains("sandbox"))
    }
}
