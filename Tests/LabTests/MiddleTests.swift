import Foundation
import Subprocess
import Testing

/// An attacker between two peers, with its own key, and a TLS connection to each side.
@Suite("A man in the middle", .serialized, .timeLimit(.minutes(4)))
struct MiddleTests {
    private struct Trio: Sendable {
        let kitchen: Host
        let study: Host
        /// The receiver's address.
        let address: String
    }

    private func withTrio(_ body: @Sendable @escaping (Trio) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let kitchen = Host.loopback(folder + "/kitchen")
            let study = Host.loopback(folder + "/study")
            try await kitchen.withReceiver(Programs.waftd, ["--name", "kitchen"]) { running in
                try await body(Trio(kitchen: kitchen, study: study, address: running.address))
            }
            #expect(kitchen.contactsFile == "")
            #expect(study.contactsFile == "")
        }
    }

    /// The digits on a screen.
    private static func digits(_ screen: String) -> String? {
        screen.firstMatch(of: /(\d{3}) (\d{3})    \w+ \w+ \w+/).map { String($0.output.1 + $0.output.2) }
    }

    // By chance alone one honest run in 50,000 fails.
    @Test(
        "makes both sides show other digits in every one of 20 pairings, and five noes lock him out", arguments: 1...4)
    func comparing(round: Int) async throws {
        try await withTrio { trio in
            try await trio.study.withStranger("middle", [trio.address]) { mallory in
                let place = "127.0.0.1:\(try await mallory.event("listening").port ?? 0)"
                for number in 1...5 {
                    let there = try await trio.kitchen.atTerminal(["pair", "--accept", "--timeout", "60"]) { kitchen in
                        try await kitchen.transcript.says("Waiting for a peer")
                        async let declined: Void = kitchen.compare("n")
                        let here = try await trio.study.atTerminal(["pair", place]) { try await $0.compare("n") }
                        try await declined
                        return here
                    }
                    let here = there.result
                    #expect((there.exit, here.exit) == (12, 12), "\(there.text) \(here.text)")
                    let shown = (kitchen: Self.digits(there.text), study: Self.digits(here.text))
                    #expect(shown.kitchen != nil && shown.study != nil, "\(there.text) \(here.text)")
                    #expect(shown.kitchen != shown.study)
                    // The attacker knows the digits, and could not choose them.
                    let known = try await mallory.event("middle", number: number)
                    #expect(known.initiator == shown.study)
                    #expect(known.responder == shown.kitchen)
                    #expect(try await mallory.event("said", number: number).reason == "declined")
                    #expect(try await mallory.event("answered", number: number).reason == "declined")
                }
                try await trio.kitchen.atTerminal(["pair", "--accept", "--timeout", "60"]) { kitchen in
                    try await kitchen.transcript.says("Waiting for a peer")
                    let refused = try await trio.study.atTerminal(["pair", place]) { _ in }
                    #expect(refused.exit == 12)
                    #expect(refused.text.contains("too many tries"), "\(refused.text)")
                    #expect(try await mallory.event("refused").reason == "locked")
                    try await kitchen.type("\u{3}")
                }
            }
        }
    }

    @Test("cannot pass a code on: each try fails on both sides and spends the code, five lock his key and ten lock all")
    func code() async throws {
        try await withTrio { trio in
            for key in ["mallory", "mallory again"] {
                try await trio.study.withStranger("relay", key: key, [trio.address]) { mallory in
                    let place = "127.0.0.1:\(try await mallory.event("listening").port ?? 0)"
                    for _ in 1...5 {
                        let there = try await Self.withCode(trio.kitchen) { code in
                            let here = try await trio.study.run(
                                arguments: ["pair", place, "--code", "--json"], input: code + "\n")
                            #expect(here.exit == 12, "\(here.errors)")
                            #expect(here.output.contains("someone is intercepting the connection"), "\(here)")
                        }
                        #expect(there.exit == 12)
                        #expect(there.text.contains("someone is intercepting the connection"), "\(there.text)")
                    }
                    guard key == "mallory" else { return }
                    try await trio.kitchen.withProgram(Programs.waft, ["pair", "--code", "--json"], signal: .interrupt)
                    { kitchen in
                        let code = try await Self.code(kitchen)
                        let refused = try await trio.study.run(
                            arguments: ["pair", place, "--code"], input: code + "\n")
                        #expect(refused.exit == 12)
                        #expect(refused.errors.contains("too many tries"), "\(refused.errors)")
                        _ = try await mallory.event { $0.event == "relayed" && $0.answer == "locked" }
                    }
                }
            }
            let closed = try await trio.kitchen.run(arguments: ["pair", "--code"])
            #expect(closed.exit == 12)
            #expect(closed.errors.contains("locked"), "\(closed.errors)")
        }
    }

    private static func withCode(
        _ host: Host, _ body: @Sendable @escaping (String) async throws -> Void
    ) async throws -> (result: Void, exit: Int, text: String) {
        try await host.withProgram(Programs.waft, ["pair", "--code", "--json", "--timeout", "60"]) { running in
            try await body(code(running))
        }
    }

    private static func code(_ running: RunningProgram) async throws -> String {
        try await running.transcript.first("a code") { text in
            text.firstMatch(of: /"code":"([0-9-]+)"/).map { String($0.output.1) }
        }
    }

    @Test("if two peers pair with each other at the same moment, both learn which of them has to begin")
    func bothBegin() async throws {
        try await withTemporaryFolder { folder in
            let hosts = [Host.loopback(folder + "/kitchen"), Host.loopback(folder + "/study")]
            try await hosts[0].withReceiver(Programs.waftd, []) { kitchen in
                try await hosts[1].withReceiver(Programs.waftd, []) { study in
                    async let first = hosts[0].atTerminal(["pair", study.address]) { _ in }
                    async let second = hosts[1].atTerminal(["pair", kitchen.address]) { _ in }
                    for end in [try await first, try await second] {
                        #expect(end.exit == 12)
                        #expect(end.text.contains("run there first: waft pair --accept"), "\(end.text)")
                    }
                    let code = try await hosts[1].run(
                        arguments: ["pair", kitchen.address, "--code"], input: "123-456-789\n")
                    #expect(code.exit == 12)
                    #expect(code.errors.contains("waft pair --code"), "\(code.errors)")
                }
            }
        }
    }
}
