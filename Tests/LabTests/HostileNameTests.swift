import Foundation
import Subprocess
import Testing

/// Names, notes and reasons that would clear a terminal, colour it, reverse its text or forge a line.
@Suite("Names that would take over a terminal", .serialized, .timeLimit(.minutes(3)))
struct HostileNameTests {
    /// Texts that begin with `e`, followed by characters that must not be printed raw.
    static let evil = "e\u{1B}[31mv\u{202E}i\u{9B}2J\u{7}l\n1: forged\r\u{2028}line\u{200B}\u{7F}\u{1B}]0;title\u{7}"

    private struct Message: Encodable, Sendable {
        struct Sender: Encodable, Sendable { var name = evil }
        struct Item: Encodable, Sendable {
            var name: String
            var text = evil
        }
        var sender = Sender()
        var annotation = ["note": evil, evil: evil]
        var items: [Item]
    }

    private struct Facts: Encodable {
        var name = evil
        var reason = evil
        var answer: String?
        var host: String?

        var text: String { get throws { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) } }
    }

    /// Fails for a character that a terminal would obey or hide, and for an empty text.
    private func expectClean(
        _ text: String, saying words: String? = nil, atTerminal: Bool = false,
        at place: SourceLocation = #_sourceLocation
    ) {
        // The sequences with which Waft itself redraws a line, and the line ends that the terminal adds.
        let text = atTerminal ? text.replacing("\r\u{1B}[2K", with: "").replacing("\r\n", with: "\n") : text
        let raw = text.unicodeScalars.filter { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: scalar != "\n"
            default: false
            }
        }
        #expect(raw.isEmpty, "\(text.debugDescription)", sourceLocation: place)
        #expect(!text.contains("\n1: forged"), "\(text)", sourceLocation: place)
        if let words { #expect(text.contains(words), "\(text)", sourceLocation: place) }
    }

    private func expectClean(
        _ outcome: ProgramResult, saying words: String? = nil, at place: SourceLocation = #_sourceLocation
    ) {
        expectClean(outcome.output + outcome.errors, saying: words, at: place)
    }

    private func withDaemon(_ body: @Sendable @escaping (RunningReceiver, Host, Host) async throws -> Void) async throws
    {
        try await withTemporaryFolder { folder in
            let kitchen = Host.loopback(folder + "/kitchen")
            let mallory = Host.loopback(folder + "/mallory")
            try await kitchen.becomeVisible()
            try await kitchen.withReceiver(Programs.waftd, []) { try await body($0, kitchen, mallory) }
        }
    }

    /// Asks the receiver until an offer waits there.
    private func offers(_ host: Host, _ flags: [String] = []) async throws -> ProgramResult {
        while true {
            let outcome = try await host.run(arguments: ["offers"] + flags)
            if !outcome.output.isEmpty { return outcome }
        }
    }

    @Test("are written out in offers, history, inbox, contacts, status and the daemon's log")
    func receiving() async throws {
        try await withDaemon { running, kitchen, mallory in
            async let offered = mallory.offer(Message(items: [.init(name: "a.txt")]), to: running.address)
            expectClean(try await offers(kitchen), saying: "note: e\\u{1B}[31mv\\u{202E}")
            expectClean(try await offers(kitchen, ["--json"]), saying: "\\u001b[31mv\\u202e")
            expectClean(try await kitchen.run(arguments: ["accept", "1"]))
            #expect(try await offered.first { $0.event == "receipt" }?.status == 200)
            for words in [["history"], ["inbox", "list"], ["inbox", "show", "1"]] {
                expectClean(try await kitchen.run(arguments: words), saying: "a.txt")
                expectClean(try await kitchen.run(arguments: words + ["--json"]), saying: "a.txt")
            }
            expectClean(try await kitchen.run(arguments: ["inbox", "show", "1"]), saying: "e\\u{1B}[31mv\\u{202E}")

            async let again = mallory.offer(Message(items: [.init(name: "b.txt")]), to: running.address)
            _ = try await offers(kitchen)
            expectClean(try await kitchen.run(arguments: ["decline", "2", "--block"]))
            #expect(try await again.first { $0.event == "verdict" }?.answer == "declined")
            expectClean(try await kitchen.run(arguments: ["contacts", "list"]), saying: "blocked")
            expectClean(try await kitchen.run(arguments: ["contacts", "list", "--json"]), saying: "e")
            expectClean(try await kitchen.run(arguments: ["status"]))
            expectClean(await running.log.errors, saying: "offer")
        }
    }

    @Test("are refused as names of items, before anybody is asked")
    func items() async throws {
        try await withDaemon { running, kitchen, mallory in
            for name in [
                "\u{1B}[2J.txt", "a\nb", "a\u{202E}txt.exe", "a\u{9B}2J", "\u{7F}", "a\u{2028}b", "a\u{0}b", "../a",
                "a/b",
            ] {
                let events = try await mallory.offer(Message(items: [.init(name: name)]), to: running.address)
                let verdict = try #require(events.first { $0.event == "verdict" })
                #expect(verdict.status == 409, "\(name.debugDescription)")
                #expect(verdict.body?.contains("an item cannot be stored") == true, "\(verdict)")
                #expect(try await kitchen.run(arguments: ["offers"]).output == "")
            }
            expectClean(await running.log.errors)
        }
    }

    @Test("are written out in the questions and lines of waft receive")
    func prompt() async throws {
        try await withTemporaryFolder { folder in
            let (kitchen, mallory) = (Host.loopback(folder + "/kitchen"), Host.loopback(folder + "/mallory"))
            let end = try await kitchen.atTerminal(["receive", "--port", "0"]) { running in
                let port = try await running.transcript.first("a port") { text in
                    text.firstMatch(of: /on port (\d+),/).map { String($0.output.1) }
                }
                for (name, answer) in [("a.txt", "y"), ("b.txt", "n")] {
                    async let offered = mallory.offer(Message(items: [.init(name: name)]), to: "127.0.0.1:\(port)")
                    try await running.transcript.says("\(name)  Plain text document")
                    try await running.type("\(answer)\n")
                    #expect(try await offered.first { $0.event == "verdict" }?.status == 200)
                }
                try await running.transcript.says("declined")
                try await running.type("\u{3}")
            }
            expectClean(end.text, saying: "note: e\\u{1B}[31mv\\u{202E}", atTerminal: true)
            #expect(end.text.contains("a.txt  "), "\(end.text)")
        }
    }

    @Test("are written out in the lines that name the peer, and in its reasons")
    func sending() async throws {
        try await withTemporaryFolder { folder in
            let (study, mallory) = (Host.loopback(folder + "/study"), Host.loopback(folder + "/mallory"))
            try "hello".write(toFile: folder + "/note.txt", atomically: false, encoding: .utf8)
            for answer in ["declined", "accepted"] {
                try await mallory.withStranger("serve", [try Facts(answer: answer).text]) { stranger in
                    let place = "127.0.0.1:\(try await stranger.event("listening").port ?? 0)"
                    let words = ["send", "note.txt", "--to", place, "--timeout", "2"]
                    for flags in [[], ["--json"]] {
                        let outcome = try await study.run(arguments: words + flags, in: folder)
                        #expect(outcome.exit == (answer == "declined" ? 12 : 1), "\(outcome.errors)")
                        expectClean(outcome, saying: flags.isEmpty ? "\\u{1B}[31mv" : "\\u001b[31mv")
                    }
                    let seen = try await study.atTerminal(words, in: folder) { _ in }
                    expectClean(seen.text, saying: "\\u{1B}[31mv", atTerminal: true)
                }
            }
        }
    }

    @Test("are written out where people compare, and a contact that is made of one has none of it")
    func pairing() async throws {
        try await withDaemon { running, kitchen, mallory in
            let there = try await kitchen.atTerminal(["pair", "--accept", "--timeout", "60"]) { terminal in
                try await terminal.transcript.says("Waiting for a peer")
                return try await mallory.withStranger("pair", [running.address, try Facts().text]) { stranger in
                    try await terminal.compare("y")
                    _ = try await stranger.event("done")
                    return await stranger.events
                }
            }
            #expect(there.result.contains { $0.event == "paired" }, "\(there.result)")
            #expect(there.exit == 0)
            expectClean(there.text, saying: " wants to pair.", atTerminal: true)
            for words in [["list"], ["list", "--json"]] {
                expectClean(try await kitchen.run(arguments: ["contacts"] + words), saying: "ask")
            }
            #expect(!kitchen.contactsFile.unicodeScalars.contains("\u{1B}"))

            try await mallory.withStranger("serve", [try Facts().text]) { stranger in
                let place = "127.0.0.1:\(try await stranger.event("listening").port ?? 0)"
                let here = try await kitchen.atTerminal(["pair", place]) { try await $0.compare("y") }
                #expect(here.exit == 1)
                expectClean(here.text, saying: "Does the other screen show the same?", atTerminal: true)
            }
        }
    }

    @Test(
        "are written out where peers are listed",
        .enabled(if: Lab.isPossible, "NOT RUN: network namespaces need root; run Scripts/test as root"))
    func peers() async throws {
        try await Lab.with(avahi: "all") { lab in
            let (kitchen, study) = (lab.host("kitchen"), lab.host("study"))
            let facts = try Facts(host: "0.0.0.0").text
            try await kitchen.withStranger("serve", [facts]) { stranger in
                let port = try await stranger.event("listening").port ?? 0
                let record = ["-s", "e\u{1B}[31mv\u{202E}il", "_waft._tcp", "\(port)", "v=1", "x=\u{1B}[2J"]
                try await kitchen.withProgram("/usr/bin/avahi-publish", record, signal: .interrupt) { publishing in
                    try await publishing.transcript.says("Established")
                    let text = try await study.run(arguments: ["peers"])
                    #expect(text.output.hasPrefix("e[31mvi2Jl1: forgedline]0;title "), "\(text.output)")
                    expectClean(text)
                    expectClean(try await study.run(arguments: ["peers", "--json"]), saying: "found")
                }
            }
        }
    }
}
