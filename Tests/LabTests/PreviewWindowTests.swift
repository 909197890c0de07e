import Foundation
import Subprocess
import Testing

/// `waft preview --window`, with the real programs.
@Suite("Previews in a window", .serialized, .timeLimit(.minutes(2)))
struct PreviewWindowTests {
    @Test("the default application shows a file; not one that would be run, nothing without a desktop")
    func application() async throws {
        try await withTemporaryFolder { folder in
            var shelf = try ApplicationShelf(folder, display: ":99")
            try "hello\n".write(toFile: folder + "/a.txt", atomically: false, encoding: .utf8)
            try writeScript("#!/bin/sh\n", to: folder + "/run.sh")
            let none = try await shelf.waft("preview", "--window", "a.txt")
            #expect(none.exit == 13 && none.errors.contains("nothing here opens"), "\(none)")
            try await shelf.add(
                "viewer", name: "Viewer", shelf.noting("viewer"), types: "text/plain;application/x-shellscript;")
            let shown = try await shelf.waft("preview", "--window", "a.txt")
            #expect(shown.exit == 0 && shown.output == "a.txt: handed to Viewer\n", "\(shown)")
            try await eventually { shelf.noted("viewer") == folder + "/a.txt|" }
            let script = try await shelf.waft("preview", "--window", "run.sh")
            #expect(script.exit == 13 && script.errors.contains("would run it"), "\(script)")
            shelf.host.environment["DISPLAY"] = ""
            let dark = try await shelf.waft("preview", "--window", "a.txt")
            #expect(dark.exit == 1 && dark.errors.contains("there is no desktop here"), "\(dark)")
        }
    }

    @Test("GNOME's previewer comes first where it is on the bus")
    func previewer() async throws {
        try await withTemporaryFolder { folder in
            let before = try ApplicationShelf(folder)
            try "hello\n".write(toFile: folder + "/a b.txt", atomically: false, encoding: .utf8)
            try FileManager.default.createDirectory(atPath: folder + "/desktop", withIntermediateDirectories: true)
            try await Desktop.with(in: folder + "/desktop") { desktop in
                var shelf = before
                shelf.host.environment.merge(desktop.environment) { $1 }
                shelf.host.environment["DISPLAY"] = desktop.display
                let (host, name, path) = (shelf.host, "org.gnome.NautilusPreviewer", "/org/gnome/NautilusPreviewer")
                let mock = ["-u", "-m", "dbusmock", "--session", name, path, name]
                try await host.withProgram("/usr/bin/python3", mock, signal: .terminate) { previewer in
                    let call = [
                        "call", "--session", "--dest", name, "--object-path", path, "--method",
                        "org.freedesktop.DBus.Mock.AddMethod", "", "ShowFile", "sib", "", "",
                    ]
                    try await eventually { try await host.run("/usr/bin/gdbus", call).exit == 0 }
                    let shown = try await host.run(arguments: ["preview", "--window", "a b.txt", "--json"], in: folder)
                    #expect(shown.exit == 0 && shown.events.map(\.event) == ["opened"], "\(shown)")
                    try await previewer.transcript.says("file://\(folder)/a%20b.txt")
                }
            }
        }
    }
}
