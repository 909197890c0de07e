import Foundation
import Subprocess
import Testing

/// The actions of `waft options`, chosen in its menu on a terminal.
@Suite("Doing what can be done with a document", .serialized, .timeLimit(.minutes(2)))
struct OptionsActionTests {
    /// Chooses an action in the menu for `a.txt`.
    private func choose(
        _ action: String, of file: String = "a.txt", in shelf: ApplicationShelf, until words: String
    ) async throws -> String {
        try await shelf.host.atTerminal(["options", file], in: shelf.folder) { terminal in
            try await terminal.transcript.says("Which? [1-")
            try await terminal.type(action + "\n")
            try await terminal.transcript.says(words)
        }.text
    }

    private func withShelf(
        _ display: String, _ body: @Sendable (ApplicationShelf) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            var shelf = try ApplicationShelf(folder, display: display)
            shelf.host.environment["PATH"] = folder + "/bin:\(BareSystem.programs)"
            try "hello\n".write(toFile: folder + "/a.txt", atomically: false, encoding: .utf8)
            try await body(shelf)
        }
    }

    @Test("a text is copied as data and another file as its place, by wl-copy or xclip")
    func programs() async throws {
        for (program, variable) in [("wl-copy", "WAYLAND_DISPLAY"), ("xclip", "DISPLAY")] {
            try await withShelf("") { shelf in
                var shelf = shelf
                shelf.host.environment[variable] = "some"
                let out = shelf.folder + "/out/"
                try writeScript(
                    "#!/bin/sh\necho \"$@\" > '\(out)words'\ncat > '\(out)data'\n", to: shelf.folder + "/bin/" + program
                )
                try Data([0, 1, 2, 0xFF, 0]).write(to: URL(fileURLWithPath: shelf.folder + "/a.bin"))
                _ = try await choose("copy", in: shelf, until: "a.txt: copied")
                #expect(shelf.noted("data") == "hello\n")
                #expect(shelf.noted("words")?.contains("text/plain;charset=utf-8") == true)
                _ = try await choose("copy", of: shelf.folder + "/a.bin", in: shelf, until: "a.bin: copied")
                #expect(shelf.noted("data") == "file://\(shelf.folder)/a.bin\r\n")
                #expect(shelf.noted("words")?.contains("text/uri-list") == true)
            }
        }
    }

    @Test("without a desktop a short text is copied by the terminal, by OSC 52")
    func terminal() async throws {
        try await withShelf("") { shelf in
            let text = try await choose("copy", in: shelf, until: "a.txt: copied")
            #expect(
                text.contains("\u{1B}]52;c;\(Data("hello\n".utf8).base64EncodedString())\u{7}"),
                "\(text.debugDescription)")
        }
    }

    @Test("a document is shown in its folder by the file manager on the session bus")
    func folder() async throws {
        try await withTemporaryFolder { folder in
            try FileManager.default.createDirectory(
                atPath: folder + "/desktop", withIntermediateDirectories: true)
            try await Desktop.with(in: folder + "/desktop") { desktop in
                var shelf = try ApplicationShelf(folder, display: desktop.display)
                shelf.host.environment.merge(desktop.environment) { $1 }
                let host = shelf.host
                let place = shelf
                try "hello\n".write(toFile: folder + "/a.txt", atomically: false, encoding: .utf8)
                let mock = [
                    "-u", "-m", "dbusmock", "--session", "org.freedesktop.FileManager1",
                    "/org/freedesktop/FileManager1", "org.freedesktop.FileManager1",
                ]
                try await host.withProgram("/usr/bin/python3", mock, signal: .terminate) { manager in
                    let call = [
                        "call", "--session", "--dest", "org.freedesktop.FileManager1", "--object-path",
                        "/org/freedesktop/FileManager1", "--method", "org.freedesktop.DBus.Mock.AddMethod", "",
                        "ShowItems", "ass", "", "",
                    ]
                    try await eventually { try await host.run("/usr/bin/gdbus", call).exit == 0 }
                    _ = try await choose("show-in-folder", in: place, until: "Which?")
                    try await manager.transcript.says("file://\(folder)/a.txt")
                }
            }
        }
    }
}
