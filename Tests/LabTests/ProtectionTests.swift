import Foundation
import Subprocess
import Testing

/// `waft protection`, `waft unlock` and `waft lock` with a real receiver.
@Suite("Data protection", .serialized, .timeLimit(.minutes(2)))
struct ProtectionTests {
    private static let recipient = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"
    private static let passphrase = "five words drawn by lot"

    private struct Line: Decodable {
        var event: String
        var protection: String?
        var setUp: Bool?
        var unlocked: Bool?
        var unlockedOnce: Bool?
        var keysFrom: String?
        var recoveryRecipients: [String]?
    }

    private func line(_ host: Host, _ words: [String]) async throws -> Line {
        let outcome = try await host.run(arguments: words + ["--json"])
        try #require(outcome.exit == 0, "\(words): \(outcome)")
        return try JSONDecoder().decode(Line.self, from: Data(outcome.output.utf8))
    }

    @Test("a passphrase that is too short is asked for again, and nothing that is typed meanwhile is shown")
    func shortAndEarly() async throws {
        try await withTemporaryFolder { folder in
            let kitchen = Host.loopback(folder + "/kitchen")
            let (short, differing, early) = ("shrt", "another one, not the same", "typed while it is checked")
            let made = try await kitchen.atTerminal(["protection", "set-up"]) { terminal in
                for (number, word) in [short, Self.passphrase, Self.passphrase].enumerated() {
                    try await terminal.transcript.says("New passphrase: ", times: number + 1)
                    try await terminal.type(word + "\n")
                    if number == 0 { continue }
                    try await terminal.transcript.says("Once more: ", times: number)
                    try await terminal.type((number == 1 ? differing : Self.passphrase) + "\n")
                }
            }
            #expect(made.exit == 0 && made.text.contains("this one has 4"), "\(made.text)")
            #expect(made.text.contains("the two passphrases differ"), "\(made.text)")
            for word in [short, differing, Self.passphrase] { #expect(!made.text.contains(word), "\(word) is shown") }
            try await kitchen.withReceiver(Programs.waftd, []) { _ in
                _ = try await kitchen.run(arguments: ["lock"])
                let opened = try await kitchen.atTerminal(["unlock"]) { terminal in
                    try await terminal.transcript.says("Passphrase: ")
                    try await terminal.type("something else\n")
                    try await terminal.type(early + "\n")
                    try await terminal.transcript.says("Passphrase: ", times: 2)
                    try await terminal.type(Self.passphrase + "\n")
                }
                #expect(opened.exit == 0 && !opened.text.contains(early), "\(opened.text)")
            }
        }
    }

    @Test("set-up asks twice, three wrong passphrases are 18, and the right one unlocks until the lock")
    func whole() async throws {
        try await withTemporaryFolder { folder in
            let kitchen = Host.loopback(folder + "/kitchen")
            try await kitchen.withReceiver(Programs.waftd, []) { running in
                let words = ["protection", "set-up", "--recovery", Self.recipient]
                let made = try await kitchen.atTerminal(words) { terminal in
                    try await terminal.transcript.says("New passphrase: ")
                    try await terminal.type(Self.passphrase + "\n")
                    try await terminal.transcript.says("Once more: ")
                    try await terminal.type(Self.passphrase + "\n")
                }
                #expect(made.exit == 0 && made.text.contains("the receiver uses it now"), "\(made.text)")
                #expect(made.text.contains("Not hidden:") && made.text.contains("Unlocked now."), "\(made.text)")
                #expect(!made.text.contains(Self.passphrase), "it is shown")
                _ = try await running.log.first("unlocked")
                let status = try await line(kitchen, ["protection"])
                #expect(status.unlocked == true && status.setUp == true && status.keysFrom == "passphrase")
                #expect(status.recoveryRecipients == [Self.recipient])
                #expect(
                    try await kitchen.run(arguments: ["status"]).output.contains(
                        "protection       unlessOpen, unlocked since"))

                let locked = try await line(kitchen, ["lock"])
                #expect(locked.event == "locked" && locked.unlocked == false && locked.unlockedOnce == true)
                #expect(try await line(kitchen, ["lock", "--all"]).unlockedOnce == false)
                try await running.log.wait(for: 2, of: "locked")
                #expect(try await kitchen.run(arguments: ["status"]).output.contains("unlessOpen, locked since"))

                let refused = try await kitchen.atTerminal(["unlock"]) { terminal in
                    for number in 1...3 {
                        try await terminal.transcript.says("Passphrase: ", times: number)
                        try await terminal.type("something else\n")
                    }
                }
                #expect(refused.exit == 18, "\(refused.text)")
                #expect(refused.text.ranges(of: "the passphrase is wrong").count == 3, "\(refused.text)")
                #expect(try await line(kitchen, ["protection"]).unlocked == false)

                let secret = folder + "/secret"
                try (Self.passphrase + "\n").write(toFile: secret, atomically: false, encoding: .utf8)
                let unlock = "exec \"$0\" unlock --passphrase-fd 3 3<\"$1\""
                let opened = try await kitchen.run("/bin/sh", ["-c", unlock, Programs.waft, secret])
                #expect(opened.exit == 0 && opened.output == "unlocked\n", "\(opened)")
                let again = try await kitchen.run(arguments: ["unlock"])
                #expect(again.exit == 0 && again.output == "unlocked already\n", "\(again)")
                let event = try await line(kitchen, ["unlock"])
                #expect(event.event == "unlocked" && event.protection == "unlessOpen" && event.unlocked == true)
                let limits = try String(contentsOfFile: "/proc/\(running.process.value)/limits", encoding: .utf8)
                #expect(limits.contains(/Max core file size +0\b/), "\(limits)")
            }
        }
    }

    @Test("Ctrl-C at the question for a passphrase changes nothing, and without a terminal nothing is asked")
    func interrupted() async throws {
        try await withTemporaryFolder { folder in
            let kitchen = Host.loopback(folder + "/kitchen")
            let end = try await kitchen.atTerminal(["protection", "set-up"]) { terminal in
                try await terminal.transcript.says("New passphrase: ")
                try await terminal.type("\u{3}")
            }
            #expect(end.exit == 130, "\(end.text)")
            let outcome = try await kitchen.run(arguments: ["protection", "set-up"])
            #expect(outcome.exit == 64 && outcome.errors.contains("--passphrase-fd"), "\(outcome)")
            #expect(try await line(kitchen, ["protection"]).setUp == false)
        }
    }

}
