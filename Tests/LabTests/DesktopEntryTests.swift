import Foundation
import Subprocess
import Testing

/// `waft desktop` and the tools of the desktop.
@Suite("URLs from the desktop", .serialized, .timeLimit(.minutes(3)))
struct DesktopEntryTests {
    private struct Place: Sendable {
        let host: Host
        let folder: String
        let entry: String

        func waft(_ words: String...) async throws -> ProgramResult { try await host.run(arguments: words) }

        /// Adds a handler that writes the URL into a file.
        func addHandler(_ name: String, scheme: String) async throws {
            let script = folder + "/\(name).sh"
            let out = folder + "/out/\(name)"
            try writeScript("#!/bin/sh\nprintf %s \"$2\" > '\(out).new'\nmv '\(out).new' '\(out)'\n", to: script)
            let outcome = try await host.run(arguments: [
                "handlers", "add", "--name", name, "--scheme", scheme, "--run", script, "--writable", folder + "/out",
            ])
            #expect(outcome.exit == 0, "\(outcome.errors)")
        }

        func opened(by name: String) -> String? {
            try? String(contentsOfFile: folder + "/out/\(name)", encoding: .utf8)
        }

        var text: String { (try? String(contentsOfFile: entry, encoding: .utf8)) ?? "" }

        func isValid() async throws {
            let result = try await host.run("/usr/bin/desktop-file-validate", [entry])
            #expect(result.exit == 0 && result.output + result.errors == "", "\(result)")
        }
    }

    /// - Parameter home: the name of Waft's folder.
    private func withPlace(_ home: String = "kitchen", _ body: @Sendable @escaping (Place) async throws -> Void)
        async throws
    {
        try await withTemporaryFolder { folder in
            for name in ["home", "out", "desktop"] {
                try FileManager.default.createDirectory(
                    atPath: folder + "/" + name, withIntermediateDirectories: true)
            }
            try await Desktop.with(in: folder + "/desktop") { desktop in
                var host = Host.loopback(folder + "/" + home)
                host.environment.merge(desktop.environment) { $1 }
                host.environment.merge([
                    "DISPLAY": desktop.display, "HOME": folder + "/home",
                    "XDG_DATA_HOME": folder + "/home/.local/share", "XDG_CONFIG_HOME": folder + "/home/.config",
                    "XDG_CURRENT_DESKTOP": "", "DESKTOP_SESSION": "", "BROWSER": "/bin/false",
                ]) { $1 }
                try await body(
                    Place(
                        host: host, folder: folder,
                        entry: folder + "/home/.local/share/applications/org.waft.Open.desktop"))
            }
        }
    }

    @Test("xdg-open gives a URL to the handler of its scheme, and the entry follows the handlers")
    func xdgOpen() async throws {
        try await withPlace { place in
            try await place.addHandler("todo", scheme: "todolist")
            let before = try await place.host.run("/usr/bin/xdg-open", ["todolist:before"])
            #expect(before.exit != 0)
            let installed = try await place.waft("desktop", "install")
            #expect(installed.exit == 0, "\(installed.errors)")
            #expect(installed.output.contains("opens  todolist:\n"), "\(installed.output)")
            #expect(installed.errors == "")
            try await place.isValid()
            let opened = try await place.host.run("/usr/bin/xdg-open", ["todolist:add?title=a%20b"])
            #expect(opened.exit == 0, "\(opened.errors)")
            #expect(place.opened(by: "todo") == "todolist:add?title=a%20b")

            // The verbs of the handlers rewrite the entry.
            try await place.addHandler("photo", scheme: "photo")
            #expect(place.text.contains("MimeType=x-scheme-handler/photo;x-scheme-handler/todolist;\n"))
            try await place.isValid()
            #expect(try await place.host.run("/usr/bin/xdg-open", ["photo:1"]).exit == 0)
            #expect(place.opened(by: "photo") == "photo:1")
            #expect(try await place.waft("handlers", "disable", "todo").exit == 0)
            #expect(place.text.contains("MimeType=x-scheme-handler/photo;\n"))
            let status = try await place.waft("desktop", "status")
            #expect(status.output.hasPrefix("installed  "), "\(status.output)")
            #expect(status.errors == "")

            let removed = try await place.waft("desktop", "remove")
            #expect(removed.exit == 0, "\(removed.errors)")
            #expect(place.text == "")
            #expect(try await place.host.run("/usr/bin/xdg-open", ["photo:2"]).exit != 0)
            #expect(place.opened(by: "photo") == "photo:1")
            // Without an entry, the handlers write none.
            #expect(try await place.waft("handlers", "enable", "todo").exit == 0)
            #expect(place.text == "")
        }
    }

    @Test("a home with spaces and signs works with GLib's tool, and a running waftd follows copied handlers")
    func gio() async throws {
        try await withPlace("my $home; %u") { place in
            try await place.addHandler("todo", scheme: "todolist")
            #expect(try await place.waft("desktop", "install").exit == 0)
            try await place.isValid()
            let opened = try await place.host.run("/usr/bin/gio", ["open", "todolist:x"])
            #expect(opened.exit == 0, "\(opened.errors)")
            try await eventually { place.opened(by: "todo") == "todolist:x" }

            let handlers = place.host.home + "/handlers"
            try await place.host.withReceiver(Programs.waftd, []) { _ in
                // A bundle that is moved away by hand.
                try FileManager.default.moveItem(atPath: handlers + "/todo.handler", toPath: place.folder + "/away")
                try await eventually { !place.text.contains("todolist") }
                try FileManager.default.moveItem(atPath: place.folder + "/away", toPath: handlers + "/todo.handler")
                try await eventually { place.text.contains("x-scheme-handler/todolist;") }
            }
        }
    }

    @Test("a file of another hand is kept, until --force says otherwise")
    func foreign() async throws {
        try await withPlace { place in
            try await place.addHandler("todo", scheme: "todolist")
            let mine = "[Desktop Entry]\nType=Application\nName=Mine\nExec=true\n"
            try FileManager.default.createDirectory(
                atPath: (place.entry as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            try mine.write(toFile: place.entry, atomically: false, encoding: .utf8)
            for verb in ["install", "remove"] {
                let refused = try await place.waft("desktop", verb)
                #expect(refused.exit == 64, "\(refused.errors)")
                #expect(refused.errors.contains("waft desktop \(verb) --force"), "\(refused.errors)")
            }
            try await place.addHandler("photo", scheme: "photo")
            #expect(place.text == mine)
            #expect(try await place.waft("desktop", "status", "--json").output.contains("\"state\":\"foreign\""))
            #expect(try await place.waft("desktop", "install", "--force", "--json").exit == 0)
            #expect(place.text.contains("x-scheme-handler/photo;"))
            #expect(try await place.waft("desktop", "remove", "--json").output.contains("\"state\":\"missing\""))
            #expect(try await place.waft("desktop", "remove").exit == 0)
        }
    }
}
