import Foundation
import Subprocess
import SystemPackage
import Testing

/// Pairing with the real programs on loopback, by address.
@Suite("Pairing on loopback", .serialized, .timeLimit(.minutes(2)))
struct PairingTests {
    /// A line that `waft pair --json` prints.
    private struct Line: Decodable, Sendable {
        var event: String
        var peer: Event.Peer?
        var code: String?
        var digits: String?
        var exit: Int?
        var reason: String?
    }

    /// A contact in a peer's file.
    private func contacts(_ host: Host) -> String {
        (try? String(contentsOfFile: host.home + "/state/contacts.json", encoding: .utf8)) ?? ""
    }

    /// Runs a receiver, and calls `body` with it, its host, and that of the other side.
    private func withPair(
        _ body: @Sendable @escaping (RunningReceiver, Host, Host) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let kitchen = Host.loopback(folder + "/kitchen")
            var study = Host.loopback(folder + "/study")
            study.environment["WAFT_NAME"] = "study"
            let other = study
            try await kitchen.withReceiver(Programs.waftd, ["--name", "kitchen"]) { running in
                try await body(running, kitchen, other)
            }
        }
    }

    /// Runs `waft pair --code` at the receiver, and calls `body` with the code when it is printed.
    private func withCode(
        _ host: Host, _ body: @Sendable @escaping (String) async throws -> Void
    ) async throws -> (lines: [Line], exit: Int) {
        let configuration = host.configuration(Programs.waft, ["pair", "--code", "--json", "--timeout", "60"])
        let result = try await Subprocess.run(
            configuration, input: .none, output: .sequence, error: .discarded
        ) { execution -> [Line] in
            var lines: [Line] = []
            for try await text in execution.standardOutput.strings() {
                LineContracts.hold(text, of: ["pair"])
                guard let line = try? JSONDecoder().decode(Line.self, from: Data(text.utf8)) else { continue }
                lines.append(line)
                if let code = line.code { try await body(code) }
            }
            return lines
        }
        return (result.closureResult, result.terminationStatus.code)
    }

    @Test("a code that one side prints and the other reads from standard input makes contacts of both")
    func code() async throws {
        try await withPair { receiver, kitchen, study in
            let (lines, exit) = try await withCode(kitchen) { code in
                let outcome = try await study.run(
                    arguments: ["pair", receiver.address, "--code", "--json"], input: code + "\n")
                #expect(outcome.exit == 0, "\(outcome.errors)")
                let paired = outcome.events.first { $0.event == "paired" }
                #expect((paired?.peer?.id, paired?.peer?.contact) == (receiver.id, "kitchen"))
            }
            #expect(exit == 0)
            #expect(lines.last?.event == "paired")
            #expect(lines.last?.peer?.id.map { contacts(kitchen).contains($0) } == true)
            #expect(contacts(study).contains(receiver.id))
        }
    }

    @Test("a wrong code ends both sides with 12, no peer is stored, and the right code is spent")
    func wrongCode() async throws {
        try await withPair { receiver, kitchen, study in
            let (lines, exit) = try await withCode(kitchen) { code in
                let wrong = code == "000-000-000" ? "000-000-001" : "000-000-000"
                for typed in [wrong, code] {
                    let outcome = try await study.run(
                        arguments: ["pair", receiver.address, "--code", "--json"], input: typed + "\n")
                    #expect(outcome.exit == 12, "\(outcome.output) \(outcome.errors)")
                }
            }
            #expect((exit, lines.last?.event) == (12, "failed"))
            #expect(!contacts(study).contains(receiver.id))
        }
    }

    // MARK: By comparing, at pseudo-terminals

    /// Pairs two users who type `kitchen` and `study`.
    /// - Returns: the output for each of them, and both exit codes.
    private func compare(
        _ receiver: RunningReceiver, _ hosts: (kitchen: Host, study: Host), typing answers: (String, String)
    ) async throws -> (seen: [String], exits: [Int]) {
        let kitchen = try await hosts.kitchen.atTerminal(["pair", "--accept", "--timeout", "60"]) { kitchen in
            try await kitchen.transcript.says("Waiting for a peer")
            return try await hosts.study.atTerminal(["pair", receiver.address]) { study in
                try await kitchen.compare(answers.0, with: study, answers.1)
            }
        }
        return ([kitchen.text, kitchen.result.text], [kitchen.exit, kitchen.result.exit])
    }

    @Test("both users see the same digits and words, and are contacts when both say yes")
    func compared() async throws {
        try await withPair { receiver, kitchen, study in
            let (seen, exits) = try await compare(receiver, (kitchen, study), typing: ("y", "y"))
            #expect(exits == [0, 0], "\(seen)")
            let shown = seen.map { $0.firstMatch(of: /\d{3} \d{3}    \w+ \w+ \w+/).map { String($0.output) } }
            #expect(shown[0] != nil)
            #expect(shown[0] == shown[1])
            #expect(contacts(kitchen).contains("comparedCode"))
            #expect(contacts(study).contains(receiver.id))
        }
    }

    @Test("a no on either side ends both with 12, and no peer is stored", arguments: [["n", "y"], ["y", "n"]])
    func declined(_ answers: [String]) async throws {
        try await withPair { receiver, kitchen, study in
            let (seen, exits) = try await compare(receiver, (kitchen, study), typing: (answers[0], answers[1]))
            #expect(exits == [12, 12], "\(seen)")
            #expect(contacts(kitchen) == "")
            #expect(contacts(study) == "")
        }
    }

    @Test("without a receiver, a terminal, a peer or pairing mode there is an exit code for each")
    func exitCodes() async throws {
        try await withPair { receiver, _, study in
            #expect(try await study.run(arguments: ["pair", "--code"]).exit == 69)
            #expect(try await study.run(arguments: ["pair", "--accept"]).exit == 64)
            #expect(try await study.run(arguments: ["pair", receiver.address]).exit == 64)
            #expect(try await study.run(arguments: ["pair"]).exit == 64)
            let shown = try await study.run(arguments: ["pair", receiver.address, "--code", "123-456-789"])
            #expect(shown.exit == 64)
            #expect(shown.errors.contains("other users can see"))
            let typo = try await study.run(arguments: ["pair", receiver.address, "--code"], input: "12-34\n")
            #expect(typo.exit == 64)
            let code = "123-456-789\n"
            let closed = try await study.run(arguments: ["pair", receiver.address, "--code"], input: code)
            #expect(closed.exit == 12, "\(closed.errors)")
            let nobody = ["pair", "nobody.invalid", "--code", "--timeout", "1"]
            #expect(try await study.run(arguments: nobody, input: code).exit == 10)
            #expect(try await study.run(arguments: ["pair", "127.0.0.1:1", "--code"], input: code).exit == 11)
        }
    }

    @Test("without a partner it ends with 15, and pairing mode is closed")
    func nobodyComes() async throws {
        try await withPair { _, kitchen, _ in
            let outcome = try await kitchen.run(arguments: ["pair", "--code", "--json", "--timeout", "1"])
            #expect(outcome.exit == 15, "\(outcome.errors)")
        }
    }
}
