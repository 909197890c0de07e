import Foundation
import Testing

/// The examples as people use them: added by `waft handlers add`, called in the sandbox for what `waft send` brings.
@Suite("The examples, with the real programs", .serialized, .timeLimit(.minutes(3)))
struct ExampleDeliveryTests {
    /// Adds an example to a receiver's handlers, runs the receiver, and calls `body` with it, a sender and a folder.
    private func withHandler(
        _ arguments: [String],
        _ example: String,
        environment: [String: String] = [:],
        in folder: String,
        _ body: @Sendable @escaping (RunningReceiver, Host) async throws -> Void
    ) async throws {
        var kitchen = Host.loopback(folder + "/kitchen")
        kitchen.environment["PATH"] = BareSystem.handlerPrograms
        kitchen.environment.merge(environment) { _, new in new }
        let words = ["handlers", "add"] + arguments + ["--run", ExampleHandler.folder + "/" + example]
        let added = try await kitchen.run(arguments: words)
        try #require(added.exit == 0, "\(added.errors)")
        try await kitchen.withReceiver(arguments: ["receive", "--accept", "everyone", "--name", "kitchen"]) { running in
            try await body(running, .loopback(folder + "/study"))
        }
    }

    private func makeFolder(_ path: String) throws -> String {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }

    @Test("a photo that is sent is filed by its day")
    func photo() async throws {
        try await withTemporaryFolder { folder in
            let pictures = try makeFolder(folder + "/Pictures")
            let photo = DatedFiles.jpeg("2024:05:17 10:20:30")
            try Data(photo).write(to: URL(fileURLWithPath: folder + "/party.jpg"))
            let words = ["--name", "Photos", "--type", "public.image", "--writable", pictures]
            try await withHandler(words, "photos-by-date", in: folder) { receiver, study in
                let outcome = try await study.run(
                    arguments: ["send", folder + "/party.jpg", "--wait", "opened", "--to", receiver.address])
                #expect(outcome.exit == 0, "\(outcome.errors)")
                let filed = try Data(contentsOf: URL(fileURLWithPath: pictures + "/2024/05-17/party.jpg"))
                #expect(Array(filed) == photo)
                #expect(try receiver.names() == [])
            }
        }
    }

    @Test("a PDF that is sent goes to lp, and stays in the Inbox")
    func document() async throws {
        try await withTemporaryFolder { folder in
            let stubs = try makeFolder(folder + "/stubs")
            try PrintPDFTests.printer.write(toFile: stubs + "/lp", atomically: false, encoding: .utf8)
            #expect(chmod(stubs + "/lp", 0o755) == 0)
            try "%PDF-1.4\n%%EOF\n".write(toFile: folder + "/report.pdf", atomically: false, encoding: .utf8)
            let path = stubs + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")
            let words = ["--name", "Print", "--type", "com.adobe.pdf", "--sockets", "--readable", stubs]
            try await withHandler(words, "print-pdf", environment: ["PATH": path], in: folder) { receiver, study in
                let outcome = try await study.run(
                    arguments: ["send", folder + "/report.pdf", "--wait", "opened", "--to", receiver.address])
                #expect(outcome.exit == 0, "\(outcome.errors)")
                let record = try String(
                    contentsOfFile: folder + "/kitchen/handler-data/org.waft.local.print/lp-record", encoding: .utf8)
                #expect(record == "-t\nreport.pdf\n--\n\(receiver.inbox)/report.pdf\n.\n")
                #expect(try receiver.names() == ["report.pdf"])
            }
        }
    }

    @Test("a text and a link that are sent are noted")
    func words() async throws {
        try await withTemporaryFolder { folder in
            let notes = try makeFolder(folder + "/Notes")
            let words = ["--name", "Notes", "--type", "public.plain-text", "--type", "public.url", "--writable", notes]
            try await withHandler(words, "append-notes", in: folder) { receiver, study in
                let outcome = try await study.run(
                    arguments: [
                        "send", "--text", "back at six", "--url", "https://example.com/a?b", "--wait", "opened", "--to",
                        receiver.address,
                    ])
                #expect(outcome.exit == 0, "\(outcome.errors)")
                let text = try String(contentsOfFile: notes + "/From Waft.md", encoding: .utf8)
                #expect(text.contains("\n    back at six\n"))
                #expect(text.contains("\n<https://example.com/a?b>\n"))
                #expect(text.split(separator: "\n").count { $0.hasPrefix("## ") } == 2)
                #expect(try receiver.names() == [])
            }
        }
    }
}
