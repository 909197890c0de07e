import Foundation
import Handlers
import HookSandbox
import TestSupport
import Testing

@Suite("Programs that show a part of a file", .timeLimit(.minutes(1)))
struct PreviewProgramTests {
    private let place = HookFolder()

    private func output(
        _ body: String, timeLimit: Duration = .seconds(3_600), sandbox: SandboxPlan.Level = .strict,
        file: String = "contents\n"
    ) async throws -> String? {
        let script = URL(fileURLWithPath: place.script(body))
        let program = try #require(
            PreviewProgram(
                named: script.lastPathComponent,
                searchPath: "relative:/nowhere:" + script.deletingLastPathComponent().path,
                scratchFolder: place.scratch, sandbox: sandbox, timeLimit: timeLimit, launcher: probe, logger: quiet))
        let document = place.scratch + "-document"
        try file.write(toFile: document, atomically: false, encoding: .utf8)
        defer { unlink(document) }
        let input = try #require(FileHandle(forReadingAtPath: document))
        return await program.output(["/dev/stdin"], input: input.fileDescriptor).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    @Test("it reads the file from its standard input, also by name, and its output is returned")
    func reads() async throws {
        #expect(try await output("cat; cat \"$1\"") == "contents\ncontents\n")
        #expect(try await output("exit 3") == nil)
    }

    @Test("it can write neither the file nor elsewhere, and reads no other file of the user")
    func closed() async throws {
        try #require(HookSandbox.support.abi > 0, "this kernel has no Landlock")
        let secret = place.scratch + "-secret"
        try "secret".write(toFile: secret, atomically: false, encoding: .utf8)
        defer { unlink(secret) }
        #expect(
            try await output("cat '\(secret)' 2>/dev/null; echo x > '\(secret)'; echo x > /dev/stdin; cat")
                == "contents\n")
        #expect(try String(contentsOfFile: secret, encoding: .utf8) == "secret")
    }

    @Test("one that never ends is ended, and the output of one that never stops is bounded")
    func bounds() async throws {
        #expect(try await output("sleep 1000", timeLimit: .milliseconds(300)) == nil)
        let long = try await output("head -c 9000000 /dev/zero | tr '\\0' x")
        #expect(long?.utf8.count == PreviewProgram.outputBytes)
    }

    @Test("its memory is bounded")
    func memory() async throws {
        #expect(try await output("ulimit -v") == "\(PreviewProgram.memoryBytes / 1_024)\n")
    }

    @Test("a program that is not installed is none")
    func missing() {
        let program = PreviewProgram(
            named: "nothing", searchPath: "/nowhere", scratchFolder: place.scratch, logger: quiet)
        #expect(program == nil)
    }
}
