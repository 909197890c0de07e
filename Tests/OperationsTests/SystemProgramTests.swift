import Foundation
import Lines
import TestSupport
import Testing

@testable import Operations

@Suite("A program of the system", .timeLimit(.minutes(1)))
struct SystemProgramTests {
    private let folder = TemporaryFolder()

    /// A program of which each run ends with the lines of a script.
    private func program(_ script: String) throws -> SystemProgram {
        let path = folder.file("talker", "#!/bin/sh\n\(script)\n")
        try #require(chmod(path, 0o755) == 0)
        return try #require(SystemProgram("talker", ["PATH": folder.path]))
    }

    private static let talk = "head -c 300000 /dev/zero | tr '\\0' x >&2"

    @Test("that was handed over goes on, however much it says")
    func talks() async throws {
        try await program("\(Self.talk); : > \(folder.path)/done").handOver([])
        #expect(FileManager.default.fileExists(atPath: folder / "done"))
    }

    @Test("that fails is quoted with its last words")
    func lastWords() async throws {
        let program = try program("\(Self.talk); echo >&2; echo 'no display' >&2; exit 3")
        let error = await #expect(throws: WaftError.self) { try await program.handOver([]) }
        #expect(error?.reason.contains("talker failed: no display") == true, "\(String(describing: error))")
    }

    @Test("that runs to its end gives its first line, and its last words if it fails")
    func ends() async throws {
        let said = try await program("cat; echo more").run([], input: Array("first\n".utf8))
        #expect(said == "first")
        let failing = try program("echo why >&2; exit 1")
        let error = await #expect(throws: WaftError.self) { try await failing.run([]) }
        #expect(error == WaftError(.unexpected, "talker failed: why"))
        #expect(SystemProgram("talker", ["PATH": "relative:/not/there"]) == nil)
    }

    @Test("that asks gets lines as they come, and its exit code is its answer")
    func asks() async throws {
        let lines = AsyncStream<String> { continuation in
            for line in ["one\n", "two\n"] { continuation.yield(line) }
            continuation.finish()
        }
        let end = try await program("tail -n 1; exit 5").end([], lines: lines)
        #expect(end.code == 5 && end.output == "two\n")
        #expect(try await program("kill -9 $$").end([]).code == nil)
    }

    @Test("copies to the clipboard of the desktop; its failure is the user's, and no terminal is asked then")
    func clipboard() async throws {
        let copied = folder / "copied"
        folder.program("wl-copy", "#!/bin/sh\necho \"$@\" > '\(copied)'; cat >> '\(copied)'\n")
        let environment = ["PATH": folder.path + ":/usr/bin:/bin", "WAYLAND_DISPLAY": "w"]
        let clipboard = Clipboard(Face(), environment)
        let content = Clipboard.Content(mimeType: "image/png", bytes: Array("png".utf8))
        #expect(clipboard.takes(content))
        try await clipboard.copy(content)
        #expect(try String(contentsOfFile: copied, encoding: .utf8) == "--type image/png\npng")
        #expect(!Clipboard(Face(), ["PATH": folder.path]).takes(content))
        var face = Face()
        face.terminal = { _ in }
        let terminal = Clipboard(face, ["PATH": "/not/there", "DISPLAY": ":0"])
        #expect(!terminal.takes(content) && terminal.takes(Clipboard.Content.text, bytes: 64 << 10))
        #expect(!terminal.takes(Clipboard.Content.text, bytes: (64 << 10) + 1))
    }
}
