import Foundation
import Lines
import Testing

@testable import CommandLine

@Suite("The verbs of data protection where keys are missing", .timeLimit(.minutes(1)))
struct ProtectionVerbTests {
    private let home = CommandHome()

    @Test("a setting that seals needs keys: a receiver does not start without them, and a running one refuses it")
    func missingKeys() async throws {
        let home = home
        try await home.receiving { _ in
            await home.expect(
                ["unlock", "lock", "protection export"].map { ($0, .usage, "waft protection set-up") })
            await home.expect([
                (
                    "config set protection complete", .usage,
                    "make them first: waft protection set-up; nothing was changed"
                )
            ])
        }
        try home.configure("protection: complete\n")
        await home.expect([("--port 0", .usage, "waft protection set-up")], WaftDaemonCommand.self)
    }

    @Test("a drop box says that nothing can ever be opened here, and unlocks nothing")
    func dropBox() async throws {
        let home = home
        await home.expect([
            ("protection set-up --recipient 'ssh-ed25519 AAAA'", .usage, "SSH"),
            ("protection set-up --recipient age1pq1abc", .usage, "hybrid"),
            ("protection set-up --recipient x", .usage, "not a public key"),
        ])
        let words =
            "protection set-up --class complete --recipient age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"
        let made = await home.run(words)
        #expect(
            made.exit == .done && made.results.contains("drop box") && made.results.contains("never here"), "\(made)")
        await home.expect([(words, .usage, "set up already")])
        try await home.receiving { _ in
            let status = await home.run("protection --json").results
            #expect(status.contains(#""dropBox":true"#) && status.contains(#""protection":"complete""#), "\(status)")
            #expect(status.contains(#""unlocked":false"#), "\(status)")
            await home.expect([("unlock", .locked, "drop box")])
            await home.answer([("protection export", "not on this machine")])
            // Another program removes the public keys.
            try FileManager.default.removeItem(atPath: home.root + "/state/protection/recipients")
        }
        #expect(await home.run("--port 0", WaftDaemonCommand.self).exit == .usage)
    }
}
