import Foundation
import Subprocess
import Testing

/// Arrivals on the desktop: the real daemon, a real notification server, and a mock of the file manager.
@Suite("Arrivals on the desktop", .serialized, .timeLimit(.minutes(3)))
struct ArrivalsTests {
    private struct Place: Sendable {
        let folder: String
        let kitchen: Host
        let study: Host
        let desktop: Desktop
        let address: String
        let inbox: String

        func send(_ words: String...) async throws {
            let outcome = try await study.run(arguments: ["send"] + words + ["--to", address], in: folder)
            #expect(outcome.exit == 0, "\(outcome.errors)")
        }

        /// The words of the calls of `xdg-open`.
        var opened: String { (try? String(contentsOfFile: folder + "/opened", encoding: .utf8)) ?? "" }
    }

    /// Runs `waftd` on a desktop. Everybody may send.
    private func withPlace(
        _ environment: [String: String] = [:], _ body: @Sendable @escaping (Place) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            for name in ["desktop", "bin"] {
                try FileManager.default.createDirectory(
                    atPath: folder + "/" + name, withIntermediateDirectories: true)
            }
            try writeScript("#!/bin/sh\necho \"$1\" >> '\(folder)/opened'\n", to: folder + "/bin/xdg-open")
            for name in ["report.pdf", "a.txt", "b.txt", "c.txt"] {
                let text = name == "report.pdf" ? "%PDF-1.4\n" : "hello from \(name)"
                try text.write(toFile: folder + "/" + name, atomically: false, encoding: .utf8)
            }
            try await Desktop.with(in: folder + "/desktop") { desktop in
                var host = Host.loopback(folder + "/kitchen")
                host.environment.merge(desktop.environment) { $1 }
                host.environment["PATH"] = folder + "/bin:\(BareSystem.programs)"
                host.environment.merge(environment) { $1 }
                var sender = Host.loopback(folder + "/study")
                sender.environment["WAFT_NAME"] = "study"
                let (kitchen, study) = (host, sender)
                try await kitchen.withReceiver(Programs.waftd, ["--accept", "everyone"]) { receiver in
                    try await body(
                        Place(
                            folder: folder, kitchen: kitchen, study: study, desktop: desktop,
                            address: receiver.address, inbox: receiver.inbox))
                }
            }
        }
    }

    @Test("a transfer has one notification, whose buttons open the first item and show all in the folder")
    func buttons() async throws {
        try await withPlace { place in
            let mock = [
                "-u", "-m", "dbusmock", "--session", "org.freedesktop.FileManager1", "/org/freedesktop/FileManager1",
                "org.freedesktop.FileManager1",
            ]
            try await place.kitchen.withProgram("/usr/bin/python3", mock, signal: .terminate) { manager in
                let call = [
                    "call", "--session", "--dest", "org.freedesktop.FileManager1", "--object-path",
                    "/org/freedesktop/FileManager1", "--method", "org.freedesktop.DBus.Mock.AddMethod", "",
                    "ShowItems", "ass", "", "",
                ]
                try await eventually { try await place.kitchen.run("/usr/bin/gdbus", call).exit == 0 }
                try await place.send("report.pdf", "a.txt", "b.txt")
                try await place.desktop.displays(1)
                try await place.desktop.choose("Open")
                try await eventually { place.opened == "file://\(place.inbox)/report.pdf\n" }
                let text = try await place.desktop.closeAll()
                #expect(text.contains("3 items have arrived"), "\(text)")
                #expect(text.contains("“report.pdf” and 2 more from stranger &quot;study&quot; ("), "\(text)")
                try await place.send("c.txt")
                try await place.desktop.displays(1)
                try await place.desktop.choose("Show in folder")
                try await manager.transcript.says("ShowItems")
                try await manager.transcript.says("file://\(place.inbox)/c.txt")
            }
        }
    }

    @Test("a program that is called a picture cannot be opened")
    func liar() async throws {
        try await withPlace { place in
            try FileManager.default.copyItem(atPath: "/bin/true", toPath: place.folder + "/photo.jpg")
            try await place.send("photo.jpg")
            try await place.desktop.displays(1)
            // There is no such button; the file manager, which is missing, gets the folder.
            try await place.desktop.choose("Open")
            try await eventually {
                // The server refuses a menu while the one before is still open.
                try await place.desktop.choose("Show in folder")
                // It may have been chosen more than once by now.
                return Set(place.opened.split(separator: "\n")) == ["file://\(place.inbox)/"]
            }
            let text = try await place.desktop.closeAll()
            #expect(text.contains("Careful with “photo.jpg”: "), "\(text)")
        }
    }

    @Test("what a handler takes is not shown, and nothing is shown if the setting says so")
    func silent() async throws {
        try await withPlace { place in
            let add = ["handlers", "add", "--name", "Text", "--type", "public.text", "--run", "/bin/true"]
            #expect(try await place.kitchen.run(arguments: add).exit == 0)
            try await place.send("a.txt", "--wait", "opened")
            // The next one is shown: then the one before was not.
            try await place.send("report.pdf")
            try await place.desktop.displays(1)
            #expect(try await !place.desktop.closeAll().contains("a.txt"))
        }
        try await withPlace(["WAFT_NOTIFICATIONS": "offers"]) { place in
            try await place.send("a.txt")
            #expect(try await !place.desktop.closeAll().contains("arrived"))
        }
    }
}
