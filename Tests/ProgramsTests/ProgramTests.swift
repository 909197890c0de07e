import Foundation
import TestSupport
import Testing

@testable import Programs

@Suite("A program that is started", .timeLimit(.minutes(1)))
struct ProgramTests {
    private let folder = TemporaryFolder()

    private func shell(_ script: String, environment: [String: String]? = nil) -> Program {
        Program("/bin/sh", ["-c", script], environment: environment)
    }

    @Test("gets its input, and gives its output, its standard error and its exit code")
    func ends() async throws {
        let end = try await shell("cat; echo trouble >&2; exit 3").run(input: .bytes(Array("text".utf8)), limit: 100)
        #expect(end.exit == .code(3) && end.output == "text" && end.errors == "trouble\n")
        #expect(try await shell("kill -9 $$").run(limit: 100).exit == .signal(9))
        #expect(try await Program("true").run(limit: 100).exit == .code(0))
    }

    @Test("gets all variables of this process, or only the given ones, and its folder")
    func surroundings() async throws {
        let inherited = try await shell("echo $PATH").run(limit: 10_000).output
        #expect(inherited == (ProcessInfo.processInfo.environment["PATH"] ?? "") + "\n")
        var program = Program("/usr/bin/env", environment: ["NAME": "a value"])
        #expect(try await program.run(limit: 10_000).output == "NAME=a value\n")
        program = shell("pwd")
        program.folder = "/usr/bin"
        #expect(try await program.run(limit: 100).output == "/usr/bin\n")
    }

    @Test("has only its standard streams, and its own group if it shall")
    func descriptors() async throws {
        let inheritable = dup(2)
        defer { close(inheritable) }
        // The fourth is the folder that `ls` reads.
        #expect(try await Program("/bin/ls", ["/proc/self/fd"]).run(limit: 100).output == "0\n1\n2\n3\n")
        var program = shell("cut -d ' ' -f 5 /proc/$$/stat; echo $$")
        #expect(try await program.run(limit: 100).output.hasPrefix("\(getpgrp())\n"))
        program.hasOwnGroup = true
        let lines = try await program.run(limit: 100).output.split(separator: "\n")
        #expect(lines[0] == lines[1])
    }

    @Test("that does not exist is an error with its path")
    func absence() async {
        let path = folder / "nothing"
        let error = await #expect(throws: ProgramError.self) { _ = try await Program(path).run(limit: 100) }
        #expect(error?.path == path && error?.description.contains(path) == true)
        let other = await #expect(throws: ProgramError.self) { _ = try await Program(path).start() }
        #expect(other?.path == path && other?.description.contains(path) == true)
        #expect(Program.path(of: "sh", in: "relative:/not/there:/bin") == "/bin/sh")
        #expect(Program.path(of: "sh", in: "relative:/not/there") == nil)
    }

    @Test("that writes more than the limit is an error; what is dropped has no limit")
    func limit() async throws {
        let talk = "head -c 300000 /dev/zero"
        #expect(try await shell(talk).run(limit: 300_000).output.utf8.count == 300_000)
        await #expect(throws: ProgramError.self) { _ = try await shell(talk).run(limit: 299_999) }
        await #expect(throws: ProgramError.self) { _ = try await shell(talk + " >&2").run(limit: 100) }
        #expect(try await shell(talk + " >&2").run(limit: 100, keepsErrors: false).exit == .code(0))
    }

    @Test("that does not read its input does not block")
    func unread() async throws {
        let input = [UInt8](repeating: 0, count: 1 << 20)
        #expect(try await shell("exit 4").run(input: .bytes(input), limit: 100).exit == .code(4))
        #expect(try await shell("wc -c").run(input: .bytes(input), limit: 100).output == "\(1 << 20)\n")
    }

    @Test("is read to its end, however slow the reader is")
    func slowReader() async throws {
        let output = Pipe()
        let running = try await shell("head -c 60000 /dev/zero").start(
            output: output.fileHandleForWriting.fileDescriptor)
        try output.fileHandleForWriting.close()
        #expect(await running.ending() == .code(0))
        try await Task.sleep(for: .milliseconds(200))
        #expect(try output.fileHandleForReading.readToEnd()?.count == 60_000)
    }

    @Test("is interrupted, then asked to end, then killed if its task is cancelled")
    func cancelled() async throws {
        let (ready, heard) = (folder / "ready", folder / "heard")
        let program = shell(
            "trap 'echo INT >> \(heard)' INT; trap 'echo TERM >> \(heard)' TERM; echo $$ > \(ready).new; "
                + "mv \(ready).new \(ready); while :; do sleep 0.05; done")
        let task = Task {
            try await program.run(
                limit: 100, ending: [EndStep(SIGINT, .milliseconds(400)), EndStep(SIGTERM, .milliseconds(400))])
        }
        let number = try await number(in: ready)
        task.cancel()
        _ = await task.result
        #expect(try String(contentsOfFile: heard, encoding: .utf8) == "INT\nTERM\n")
        #expect(kill(number, 0) != 0)
    }

    @Test("goes on until it is ended, step by step, even if the task is cancelled")
    func goesOn() async throws {
        let ready = folder / "ready"
        let running = try await shell(
            "trap '' TERM; echo $$ > \(ready).new; mv \(ready).new \(ready); while :; do sleep 0.05; done"
        ).start()
        let number = try await number(in: ready)
        guard case .outOfTime = await running.ending(within: .milliseconds(50)) else {
            Issue.record("it has ended")
            return
        }
        let task = Task { await running.ending(within: .seconds(50)) }
        task.cancel()
        guard case .cancelled = await task.value else {
            Issue.record("it was not cancelled")
            return
        }
        #expect(running.exit == nil && kill(number, 0) == 0)
        await running.end([EndStep(SIGTERM, .milliseconds(100)), EndStep(SIGKILL, .seconds(10))])
        #expect(running.exit == .signal(Int(SIGKILL)) && kill(number, 0) != 0)
    }

    @Test("leaves no descriptors and no process")
    func remains() async throws {
        func descriptors() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
        // The first one opens the descriptors that watch all.
        _ = try await shell("exit 0").run(limit: 100)
        let before = try descriptors()
        for _ in 0..<20 {
            let end = try await shell("echo $$").run(input: .bytes([1]), limit: 100)
            let number = try #require(pid_t(end.output.dropLast()))
            #expect(kill(number, 0) != 0)
            _ = await (try shell("exit 0").start()).ending()
            _ = try? await Program(folder / "nothing").start()
        }
        #expect(try descriptors() == before)
    }

    private func number(in path: String) async throws -> pid_t {
        while !FileManager.default.fileExists(atPath: path) { try await Task.sleep(for: .milliseconds(10)) }
        return try #require(pid_t(String(contentsOfFile: path, encoding: .utf8).dropLast()))
    }
}
