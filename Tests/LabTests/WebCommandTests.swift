import Foundation
import Subprocess
import Testing

/// `waft web` with curl as the guest; the tests with browsers are called `Browser…`.
@Suite("The page for guests at the command line", .timeLimit(.minutes(2)))
struct WebCommandTests {
    /// Runs `waft web` at a terminal; the receiver is its own.
    private func atPage(
        _ words: [String] = [], settings: [String] = [],
        _ body: @Sendable @escaping (RunningProgram, Host, _ url: String) async throws -> Void
    ) async throws -> (exit: Int, text: String) {
        try await withTemporaryFolder { folder in
            let host = Host.loopback(folder)
            for setting in settings.indices where setting.isMultiple(of: 2) {
                let set = try await host.run(arguments: ["config", "set", settings[setting], settings[setting + 1]])
                #expect(set.exit == 0, "\(set.errors)")
            }
            let end = try await host.atTerminal(["web", "--no-qr"] + words, in: folder) { terminal in
                // The last line of the start has the PIN.
                try await terminal.transcript.says("the PIN")
                let url = try await terminal.transcript.first("an address") { text in
                    text.firstMatch(of: /(?:Guests|On this machine) open  (https?):\S+:(\d+)(\/\S*)/).map {
                        "\($0.1)://127.0.0.1:\($0.2)\($0.3)"
                    }
                }
                try await body(terminal, host, url)
            }
            return (end.exit, end.text)
        }
    }

    private func curl(_ words: String..., on host: Host) async throws -> ProgramResult {
        try await host.run("/usr/bin/curl", ["-sk", "--max-time", "60"] + words)
    }

    /// The address for programs.
    private func program(_ url: String, _ rest: String) -> String { url.replacing("/g/", with: "/u/") + rest }

    @Test("the host is asked at the terminal, the guest waits for the answer, and Ctrl-C ends it")
    func terminal() async throws {
        let end = try await atPage { terminal, host, url in
            for (text, answer, status) in [("hello", "y", "201"), ("hello!", "n", "403")] {
                let file = host.home + "/hello.txt"
                try Data(text.utf8).write(to: URL(fileURLWithPath: file))
                async let sending = curl(
                    "-T", file, "-w", "%{http_code}", "-A", "curl/8.0 \u{202E}evil", program(url, "/hello.txt"),
                    on: host)
                // A question is printed again below each line that comes in between.
                try await terminal.transcript.says("Accept 1 item, \(text.utf8.count) bytes, from")
                try await terminal.type(answer + "\n")
                let sent = try await sending
                #expect(sent.output.hasSuffix(status), "\(sent.output)")
            }
            let inbox = host.home + "/Documents/Inbox/"
            #expect(FileManager.default.contents(atPath: inbox + "hello.txt") == Data("hello".utf8))
            #expect(!FileManager.default.fileExists(atPath: inbox + "hello-1.txt"))
            try await terminal.type("\u{3}")
        }
        #expect(end.exit == 0, "\(end.text)")
        #expect(end.text.contains("stored hello.txt, 5 bytes"), "\(end.text)")
        #expect(end.text.contains("The page is closed: you have ended it."), "\(end.text)")
        #expect(!end.text.contains("\u{202E}"), "foreign text reaches the terminal")
    }

    @Test("a name of another machine in Host is refused, and without the secret nothing is told")
    func foreignHost() async throws {
        _ = try await atPage { terminal, host, url in
            let named = try await curl("-H", "Host: evil.example", "-w", "%{http_code}", url, on: host)
            #expect(named.output.hasSuffix("421"), "\(named.output)")
            let other = try #require(URL(string: url)).deletingLastPathComponent().absoluteString
            let guessed = try await curl("-w", "%{http_code}", other + String(repeating: "0", count: 26), on: host)
            #expect(guessed.output.hasSuffix("404"), "\(guessed.output)")
            try await terminal.type("\u{3}")
        }
    }

    @Test("a certificate of the user's own is served, and a bad one is refused in a line")
    func certificate() async throws {
        try await withTemporaryFolder { folder in
            let made = try await Host.loopback(folder).run(
                "/usr/bin/openssl",
                [
                    "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", folder + "/key.pem", "-out",
                    folder + "/own.pem",
                ]
                    + ["-subj", "/CN=home", "-addext", "subjectAltName=IP:127.0.0.1"])
            #expect(made.exit == 0, "\(made.errors)")
            let settings = ["web.key", folder + "/key.pem", "web.certificate", folder + "/own.pem"]
            _ = try await atPage(settings: settings) { terminal, host, url in
                let trusted = try await host.run(
                    "/usr/bin/curl", ["-s", "--cacert", folder + "/own.pem", "-w", "%{http_code}", program(url, "")])
                #expect(trusted.output.hasSuffix("200"), "\(trusted.output) \(trusted.errors)")
                try await terminal.type("\u{3}")
            }
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder + "/key.pem")
            var host = Host.loopback(folder + "/other")
            host.environment["TERM"] = "dumb"
            for number in [0, 2] {
                let words = ["config", "set", "--anyway", settings[number], settings[number + 1]]
                #expect(try await host.run(arguments: words).exit == 0)
            }
            let refused = try await host.run(arguments: ["web"])
            #expect(refused.exit == 64 && refused.errors.contains("chmod o-rwx"), "\(refused.errors)")
        }
    }

    @Test("web.enabled keeps a page open that waft web shows, and that ends with the setting")
    func standing() async throws {
        try await withTemporaryFolder { folder in
            let host = Host.loopback(folder)
            try await host.withReceiver(Programs.waftd, []) { _ in
                let set = try await host.run(arguments: ["config", "set", "web.enabled", "true"])
                #expect(set.exit == 0, "\(set.errors)")
                try await eventually { try await host.run(arguments: ["status"]).output.contains("a page is open at") }
                let shown = try await host.withProgram(Programs.waft, ["web", "--json"], signal: .interrupt) {
                    running in
                    try await running.transcript.says("\"event\":\"page\"")
                }
                #expect(shown.exit == 0)
                #expect(try await host.run(arguments: ["status"]).output.contains("a page is open at"))
                _ = try await host.run(arguments: ["config", "set", "web.enabled", "false"])
                try await eventually { try await host.run(arguments: ["status"]).output.contains("no page is open") }
            }
        }
    }

    @Test(
        "wrong words are refused in a line, with the documented code",
        arguments: [
            (["--no-receive"], 64), (["-"], 64), (["--for", "5parsec"], 64), (["/nowhere/at/all"], 66),
        ])
    func wrongWords(_ words: [String], _ exit: Int) async throws {
        try await withTemporaryFolder { folder in
            let outcome = try await Host.loopback(folder).run(arguments: ["web"] + words)
            #expect(outcome.exit == exit, "\(outcome.errors)")
            #expect(outcome.output.isEmpty)
            #expect(outcome.errors.hasPrefix("waft: "))
        }
    }
}
