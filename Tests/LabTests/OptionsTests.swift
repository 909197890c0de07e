import Foundation
import Testing

/// `waft options` and `waft inbox options`, with the real programs.
@Suite("What can be done with a document", .serialized)
struct OptionsTests {
    /// A desktop of programs that do nothing, and no real one.
    private func host(_ folder: String) throws -> Host {
        var host = Host.loopback(folder + "/home")
        try FileManager.default.createDirectory(atPath: folder + "/bin", withIntermediateDirectories: true)
        for name in ["xdg-open", "xclip"] {
            try writeScript("#!/bin/sh\ncat > /dev/null\n", to: folder + "/bin/" + name)
        }
        host.environment = host.environment.merging([
            "PATH": folder + "/bin:\(BareSystem.programs)", "DISPLAY": ":99", "WAYLAND_DISPLAY": "",
            "DBUS_SESSION_BUS_ADDRESS": "",
            "XDG_RUNTIME_DIR": folder,
        ]) { $1 }
        return host
    }

    @Test("the list has what works here, and --check answers with 0 or 13 without doing anything")
    func files() async throws {
        try await withTemporaryFolder { folder in
            var host = try host(folder)
            try "hello\n".write(toFile: folder + "/a.txt", atomically: false, encoding: .utf8)
            try Data([0, 1, 2, 0xFF, 0]).write(to: URL(fileURLWithPath: folder + "/a.bin"))
            try writeScript("#!/bin/sh\n", to: folder + "/run.sh")
            let all = try await host.run(arguments: ["options", "a.txt"], in: folder)
            #expect(all.exit == 0 && all.output.hasPrefix("a.txt: public.plain-text\n  1  preview "), "\(all)")
            #expect(all.output.contains("  2  open ") && all.output.contains("  3  copy "), "\(all)")
            #expect(!all.output.contains("remove"), "only items of the Inbox are removed")
            let json = try await host.run(arguments: ["options", "a.txt", "--json"], in: folder)
            #expect(Set(json.events.map(\.event)) == ["option"] && json.events.count >= 3, "\(json)")
            for (file, action, exit) in [
                ("a.txt", "preview", 0), ("a.bin", "preview", 13), ("a.txt", "open", 0), ("run.sh", "open", 13),
                ("a.bin", "copy", 0), ("a.txt", "take", 13), ("a.txt", "eat", 64), ("none", "preview", 66),
            ] {
                let checked = try await host.run(arguments: ["options", file, "--check", action], in: folder)
                #expect(checked.exit == exit && checked.output == "", "\(file) \(action) \(checked)")
            }
            host.environment["DISPLAY"] = ""
            #expect(try await host.run(arguments: ["options", "a.txt", "--check", "copy"], in: folder).exit == 13)
        }
    }

    @Test("an item of the Inbox can be taken and removed too, and a liar is not opened")
    func items() async throws {
        try await withTemporaryFolder { folder in
            let (host, sender) = (try host(folder), Host.loopback(folder + "/study"))
            try "hello\n".write(toFile: folder + "/a.txt", atomically: false, encoding: .utf8)
            try FileManager.default.copyItem(atPath: "/bin/true", toPath: folder + "/photo.jpg")
            try await host.withReceiver { running in
                let words = ["send", "a.txt", "photo.jpg", "--to", running.address]
                let sent = try await sender.run(arguments: words, in: folder)
                #expect(sent.exit == 0)
            }
            let checks = [
                ("1", "take", 0), ("1", "remove", 0), ("1", "open", 0), ("2", "open", 13), ("2", "preview", 13),
            ]
            for (item, action, exit) in checks {
                let checked = try await host.run(arguments: ["inbox", "options", item, "--check", action])
                #expect(checked.exit == exit, "\(item) \(action) \(checked)")
            }
            let liar = try await host.run(arguments: ["inbox", "options", "photo.jpg"])
            #expect(liar.output.contains("but is ELF binary: not opened\n2  photo.jpg: "), "\(liar)")
            #expect(try await host.run(arguments: ["inbox", "options", "7"]).exit == 66)
            // Two questions, one after the other.
            let end = try await host.atTerminal(["inbox", "options", "1"]) { terminal in
                try await terminal.transcript.says("Which? [1-")
                try await terminal.type("take\n")
                try await terminal.transcript.says("To which folder? ")
                try await terminal.type(folder + "/bin\n")
                try await terminal.transcript.says("1  a.txt: ")
            }
            #expect(FileManager.default.fileExists(atPath: folder + "/bin/a.txt"), "\(end)")
        }
    }

    @Test("on a terminal the list is a menu, and the chosen one is done")
    func menu() async throws {
        try await withTemporaryFolder { folder in
            let host = try host(folder)
            try "hello\n".write(toFile: folder + "/a.txt", atomically: false, encoding: .utf8)
            let end = try await host.atTerminal(["options", folder + "/a.txt"]) { terminal in
                try await terminal.transcript.says("Which? [1-")
                try await terminal.type("1\n")
                try await terminal.transcript.says("  hello")
            }
            #expect(end.text.contains("UTF-8"), "\(end)")
        }
    }
}
