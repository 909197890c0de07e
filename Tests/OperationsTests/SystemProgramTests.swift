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
}
