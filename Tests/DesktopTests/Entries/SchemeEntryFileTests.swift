import Foundation
import SystemCalls
import TestSupport
import Testing

@testable import Desktop

@Suite("The file of the desktop entry", .timeLimit(.minutes(1)))
struct SchemeEntryFileTests {
    private let folder = TemporaryFolder()
    private let entry = SchemeEntry(program: "/usr/bin/waft", home: nil, schemes: ["todolist"])

    private func file() throws -> SchemeEntryFile {
        try #require(SchemeEntryFile(environment: ["XDG_DATA_HOME": folder.path, "HOME": "/none"]))
    }

    @Test("is in the user's folder of applications")
    func place() throws {
        #expect(try file().path == folder / "applications/org.waft.Open.desktop")
        #expect(
            SchemeEntryFile(environment: ["HOME": "/home/me", "XDG_DATA_HOME": "relative"])?.path
                == "/home/me/.local/share/applications/org.waft.Open.desktop")
        #expect(SchemeEntryFile(environment: [:]) == nil)
    }

    @Test("is written, read and removed, and nothing else stays in the folder")
    func course() throws {
        let file = try file()
        #expect(try file.read() == .missing)
        try file.write(entry)
        #expect(try file.read() == .written(entry))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder / "applications").count == 1)
        try file.remove()
        #expect(try file.read() == .missing)
    }

    @Test("of another hand, or a link, is foreign")
    func foreign() throws {
        let file = try file()
        try FolderMaking.make(folder / "applications")
        try "[Desktop Entry]\nName=Mine\n".write(toFile: file.path, atomically: false, encoding: .utf8)
        #expect(try file.read() == .foreign)
        unlink(file.path)
        #expect(symlink("/etc/passwd", file.path) == 0)
        #expect(try file.read() == .foreign)
        // Writing replaces the link, and not its target.
        try file.write(entry)
        #expect(try file.read() == .written(entry))
    }

    @Test("follows the handlers, but only if it is there and of the same home")
    func refresh() async throws {
        let file = try file()
        #expect(try await !file.refresh(schemes: ["photo"], home: nil))
        #expect(try file.read() == .missing)
        try file.write(entry)
        #expect(try await !file.refresh(schemes: ["photo"], home: "/other"))
        #expect(try await !file.refresh(schemes: ["todolist", "http"], home: nil))
        #expect(try await file.refresh(schemes: ["photo"], home: nil))
        #expect(try file.read() == .written(entry.with(schemes: ["photo"])))
        let cache = try String(contentsOfFile: folder / "applications/mimeinfo.cache", encoding: .utf8)
        #expect(cache.contains("x-scheme-handler/photo=org.waft.Open.desktop"))
    }

    @Test("is valid for the desktop's own tool, whatever the paths are")
    func valid() async throws {
        let file = try file()
        for program in ["/usr/bin/waft", "/a b/w\"a$f`t\\", "/50%/waft;x", "/u\u{E4}/waft"] {
            try file.write(SchemeEntry(program: program, home: program, schemes: ["todolist", "x+y.z-1"]))
            let lines = try await TestProcess("/usr/bin/desktop-file-validate", [file.path]).end()
            #expect(lines.isEmpty, "\(lines)")
        }
    }
}
