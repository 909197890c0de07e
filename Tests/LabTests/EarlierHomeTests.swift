import Foundation
import Testing

/// `Fixtures/home-of-0.1.0.tar.gz` was made by that program: settings, a contact with limits, a visibility, two jobs, data
/// protection with a passphrase, and four arrivals of which two are sealed. The journal has absolute paths, so the home lies
/// where it lay then.
@Suite("A home of 0.1.0", .serialized, .timeLimit(.minutes(2)))
struct EarlierHomeTests {
    private static let path = "/tmp/waft-home-of-0.1.0"
    private static let archive =
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().path
        + "/Fixtures/home-of-0.1.0.tar.gz"

    @Test("is opened with its settings, contacts, jobs, keys and arrivals")
    func opened() async throws {
        try? FileManager.default.removeItem(atPath: Self.path)
        defer { try? FileManager.default.removeItem(atPath: Self.path) }
        let host = Host.loopback(Self.path)
        let unpacked = try await host.run("/usr/bin/tar", ["-xzf", Self.archive, "-C", "/tmp"])
        try #require(unpacked.exit == 0, "\(unpacked.errors)")
        let run = { @Sendable (words: [String]) in
            let result = try await host.run(arguments: words)
            #expect(result.exit == 0, "\(words): \(result.errors)")
            return result.output
        }
        #expect(try await run(["config", "get", "name"]).contains("Kitchen"))
        #expect(try await run(["config", "get", "strangerQuota"]).contains("2 GB"))
        #expect(try await run(["contacts", "list"]).contains("accept: up to 5.0 GB, up to 20 items, 08:00-18:00"))
        let jobs = try await run(["outbox", "list"])
        #expect(jobs.contains("note.txt → study ✓ (7 bytes): waits") && jobs.contains("hello.txt → 192.0.2.1"))
        try await host.withReceiver(arguments: ["receive", "--accept", "contacts"]) { running in
            #expect(running.inbox == Self.path + "/Documents/Inbox")
            let unlocked = try await host.run(
                Programs.waft, ["unlock", "--passphrase-fd", "0"], input: "correct horse battery staple\n")
            #expect(unlocked.exit == 0, "\(unlocked.errors)")
            #expect(try await run(["inbox", "cat", "note.txt"]) == "hello\n")
            #expect(try await run(["inbox", "cat", "plain.txt"]) == "plain")
            let verified = try await host.run(arguments: ["inbox", "verify"])
            #expect(verified.exit == 0 && verified.output == "4 ok\n", "\(verified)")
            #expect(verified.errors.contains("that finds faults, not forgery"), "\(verified)")
        }
        #expect(try await run(["history"]).split(separator: "\n").count == 4)
    }
}
