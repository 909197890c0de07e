import Foundation
import Testing

/// The types decide whether an item can be sent, before any byte moves.
@Suite("Eligibility", .serialized)
struct EligibilityTests {
    private func withPicky(
        _ environment: [String: String] = ["WAFT_ELIGIBILITY": "handlers"],
        _ body: @Sendable @escaping (RunningReceiver, Host, String) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            var kitchen = Host.loopback(folder + "/kitchen")
            kitchen.environment.merge(environment) { $1 }
            try writeScript("#!/bin/sh\nexit 0\n", to: folder + "/run.sh")
            let added = try await kitchen.run(arguments: [
                "handlers", "add", "--name", "Photos", "--run", folder + "/run.sh", "--type", "public.image",
            ])
            try #require(added.exit == 0, "\(added.errors)")
            try png.write(to: URL(fileURLWithPath: folder + "/photo.png"))
            try "%PDF-1.4".write(toFile: folder + "/report.pdf", atomically: false, encoding: .utf8)
            try await kitchen.withReceiver { running in try await body(running, .loopback(folder + "/study"), folder) }
        }
    }

    @Test("a type that no handler opens is refused with the reason before anybody is asked, and waft send exits 13")
    func refused() async throws {
        try await withPicky { running, study, folder in
            let outcome = try await study.run(arguments: ["send", "report.pdf", "--to", running.address], in: folder)
            #expect(outcome.exit == 13)
            #expect(
                outcome.errors.contains("no handler here opens com.adobe.pdf; it opens public.image"),
                "\(outcome.errors)")
            #expect(try running.names().isEmpty)
            #expect(await running.log.count("offer") == 0, "nobody is asked about it")
        }
    }

    @Test("one item that cannot be sent keeps the others back, and with --partial the others go")
    func partial() async throws {
        try await withPicky { running, study, folder in
            let words = ["send", "photo.png", "report.pdf", "--to", running.address]
            let whole = try await study.run(arguments: words, in: folder)
            #expect(whole.exit == 13)
            #expect(whole.errors.contains("--partial"), "\(whole.errors)")
            #expect(try running.names().isEmpty)
            let part = try await study.run(arguments: words + ["--partial"], in: folder)
            #expect(part.exit == 13, "what was not sent is not hidden")
            #expect(part.output.contains("photo.png → kitchen") || part.output.contains("stored as photo.png"))
            #expect(part.errors.contains("no handler here opens com.adobe.pdf"), "\(part.errors)")
            #expect(try running.names() == ["photo.png"])
        }
    }

    @Test("a received URL is stored and not opened, unless its scheme is listed; file: never is")
    func receivedURLs() async throws {
        try await withTemporaryFolder { folder in
            var kitchen = Host.loopback(folder + "/kitchen")
            kitchen.environment["WAFT_OPEN_RECEIVED_URLS"] = "notes"
            let out = folder + "/out"
            try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: true)
            let script = "#!/bin/sh\necho \"$2\" >> '\(out)/record'\ncat >> '\(out)/documents'\n"
            try writeScript(script, to: folder + "/run.sh")
            let added = try await kitchen.run(arguments: [
                "handlers", "add", "--name", "Notes", "--scheme", "notes", "--scheme", "other", "--run",
                folder + "/run.sh", "--writable", out,
            ])
            try #require(added.exit == 0, "\(added.errors)")
            try await kitchen.withReceiver { running in
                let urls = [
                    "other://a/b", "file:///etc/passwd", "https://example.com/", "notes://me@host/new?title=x#top",
                ]
                let words = ["send"] + urls.flatMap { ["--url", $0] } + ["--wait", "opened", "--to", running.address]
                let outcome = try await Host.loopback(folder + "/study").run(arguments: words)
                #expect(outcome.exit == 16, "one of four is opened: \(outcome.errors)")
                #expect(try running.names().count == 4)
            }
            let opened = try String(contentsOfFile: out + "/record", encoding: .utf8)
            #expect(opened == "notes://me@host/new?title=x#top\n")
            let document = try String(contentsOfFile: out + "/documents", encoding: .utf8)
            let parts = ["user": "me", "host": "host", "path": "/new", "query": "title=x", "fragment": "top"]
            for (name, value) in parts {
                #expect(document.contains("\"\(name)\":\"\(value)\""), "\(document)")
            }
        }
    }

    @Test("a received https: URL is opened by xdg-open if the scheme is listed, unchanged and without a shell")
    func webURLs() async throws {
        try await withTemporaryFolder { folder in
            var kitchen = Host.loopback(folder + "/kitchen")
            kitchen.environment["WAFT_OPEN_RECEIVED_URLS"] = "https"
            try FileManager.default.createDirectory(atPath: folder + "/bin", withIntermediateDirectories: true)
            try writeScript("#!/bin/sh\nprintf '%s\\n' \"$@\" >> '\(folder)/opened'\n", to: folder + "/bin/xdg-open")
            kitchen.environment["PATH"] = folder + "/bin:\(BareSystem.programs)"
            try await kitchen.withReceiver { running in
                let url = "https://example.com/?a=$(id)&b=';id;'"
                let words = ["send", "--url", url, "--url", "http://example.com/", "--wait", "opened", "--json"]
                let outcome = try await Host.loopback(folder + "/study")
                    .run(arguments: words + ["--to", running.address])
                #expect(outcome.exit == 16, "one of two is opened: \(outcome.errors)")
                #expect(outcome.events.filter { $0.stored != nil }.map(\.handlerAnswer) == ["yes", "none"])
                #expect(try String(contentsOfFile: folder + "/opened", encoding: .utf8) == url + "\n")
            }
        }
    }

    @Test(
        "a setting that would open file: or mailto: URLs of others is refused at start",
        arguments: ["file", "mailto", "x y"])
    func refusedSchemes(scheme: String) async throws {
        try await withTemporaryFolder { folder in
            var kitchen = Host.loopback(folder + "/kitchen")
            kitchen.environment["WAFT_OPEN_RECEIVED_URLS"] = scheme
            let outcome = try await kitchen.run(Programs.waftd, [])
            #expect(outcome.exit == 64)
            #expect(outcome.errors.contains("WAFT_OPEN_RECEIVED_URLS"), "\(outcome.errors)")
        }
    }
}
