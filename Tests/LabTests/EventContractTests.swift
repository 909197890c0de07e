import Foundation
import TestSupport
import Testing

/// Every verb with `--json`, on loopback. `Host.run` holds each line against the schema.
@Suite("Every verb speaks JSON", .timeLimit(.minutes(2)))
struct EventContractTests {
    private struct Places: Sendable {
        let folder: String
        let kitchen: Host
        let study: Host

        /// The names of the lines of a verb, and its exit code.
        func kitchen(_ words: String...) async throws -> Said {
            try await Said(kitchen.run(arguments: words + ["--json"]))
        }
    }

    private struct Said: Equatable, CustomStringConvertible {
        var exit: Int
        var events: [String]
        var description: String

        init(_ exit: Int, _ events: String...) {
            (self.exit, self.events, description) = (exit, events, "\(exit) \(events)")
        }

        init(_ outcome: ProgramResult) throws {
            exit = outcome.exit
            events = outcome.output.split(separator: "\n").map { String(LineContract.event(of: $0)) }
            description = "\(outcome)"
            #expect(exit == 0 || !outcome.errors.contains("waft: "), "failures are events: \(outcome.errors)")
        }

        static func == (one: Said, other: Said) -> Bool { one.exit == other.exit && one.events == other.events }
    }

    private func withPlaces(_ body: @Sendable (Places) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            var study = Host.loopback(folder + "/study")
            study.environment["WAFT_NAME"] = "study"
            let places = Places(folder: folder, kitchen: .loopback(folder + "/kitchen"), study: study)
            for name in ["a.txt", "b.txt", "c.txt"] {
                try Data(name.utf8).write(to: URL(fileURLWithPath: folder + "/" + name))
            }
            try await body(places)
        }
    }

    @Test("about contacts, rules, handlers, types and the outbox, without a receiver")
    func alone() async throws {
        try await withPlaces { places in
            let other = try await places.study.ownID()
            let (file, none) = (places.folder + "/a.txt", places.folder + "/none")
            #expect(try await places.kitchen("contacts", "me") == Said(0, "me"))
            #expect(try await places.kitchen("contacts", "allow", other, "--name", "Anna") == Said(0, "contact"))
            #expect(try await places.kitchen("contacts", "show", "nobody") == Said(66, "failed"))
            #expect(try await places.kitchen("contacts", "set", "Anna", "--time", "08:00-18:00") == Said(0, "contact"))
            #expect(try await places.kitchen("contacts", "rename", "Anna", "Berta") == Said(0, "contact"))
            #expect(try await places.kitchen("contacts", "block", "Berta") == Said(0, "blocked"))
            #expect(try await places.kitchen("contacts", "unblock", "Berta") == Said(0, "unblocked"))
            #expect(try await places.kitchen("contacts") == Said(0, "contact"))
            #expect(try await places.kitchen("contacts", "forget", "Berta") == Said(0, "forgotten"))
            #expect(try await places.kitchen("policy") == Said(0))
            #expect(try await places.kitchen("policy", "test", "--from", "stranger", file) == Said(0, "policyDecision"))
            #expect(try await places.kitchen("policy", "test", "--from", "stranger", none) == Said(66, "failed"))
            #expect(try await places.kitchen("visible", "everyone", "--for", "10m") == Said(0, "visibility"))
            #expect(try await places.kitchen("visible", "nobody") == Said(64, "failed"))

            let add = ["add", "--name", "Photos", "--type", "public.image", "--scheme", "photo", "--run", "/bin/true"]
            #expect(
                try Said(await places.kitchen.run(arguments: ["handlers"] + add + ["--json"])) == Said(0, "handler"))
            #expect(try await places.kitchen("handlers") == Said(0, "handler", "handler"))
            #expect(try await places.kitchen("handlers", "show", "Photos") == Said(0, "handler"))
            #expect(try await places.kitchen("handlers", "show", "X") == Said(66, "failed"))
            #expect(
                try await places.kitchen("handlers", "test", file, none, "photo:a")
                    == Said(66, "handlerDecision", "failed", "schemeDecision"))
            #expect(try await places.kitchen("handlers", "default", "public.png", "Photos") == Said(0, "default"))
            #expect(try await places.kitchen("handlers", "disable", "Photos") == Said(0, "handler"))
            #expect(try await places.kitchen("handlers", "enable", "Photos") == Said(0, "handler"))
            #expect(try await places.kitchen("desktop", "status") == Said(0, "desktop"))
            #expect(try await places.kitchen("open", "photo:a") == Said(0, "opened"))
            #expect(try await places.kitchen("open", "nothing:a") == Said(13, "failed"))
            #expect(try await places.kitchen("open", "photo:a", "--annotation", "a=b") == Said(0, "opened"))
            #expect(try await places.kitchen("open-in", file, "nobody") == Said(64, "failed"))
            #expect(try await places.kitchen("open-in", none) == Said(66, "failed"))
            #expect(try await places.kitchen("handlers", "remove", "Photos") == Said(0, "handlerRemoved"))
            #expect(try await places.kitchen("type", file, none, places.folder) == Said(66, "type", "failed", "type"))

            let queue = ["send", file, "--to", "nobody", "--queue", "--json"]
            #expect(try Said(await places.kitchen.run(arguments: queue)) == Said(0, "queued", "done"))
            #expect(try await places.kitchen("outbox") == Said(0, "job"))
            #expect(try await places.kitchen("outbox", "show", "1") == Said(0, "job"))
            #expect(try await places.kitchen("outbox", "show", "9") == Said(66, "failed"))
            #expect(try await places.kitchen("outbox", "retry", "1") == Said(0, "jobRetried"))
            #expect(try await places.kitchen("outbox", "cancel", "1", "9") == Said(66, "jobCancelled", "failed"))
            #expect(try await places.kitchen("outbox", "remove", "1") == Said(0, "jobRemoved"))
            #expect(try await places.kitchen("outbox", "remove", "--all") == Said(0, "jobsRemoved"))
            #expect(try await places.kitchen("send", "--dry-run", file) == Said(0, "item", "done"))
            #expect(try await places.kitchen("peers", "--timeout", "0.1") == Said(0))
        }
    }

    @Test("without a receiver the verbs that need one fail with 69, and wrong words with 64")
    func nothing() async throws {
        try await withPlaces { places in
            for words in [
                "status", "offers", "accept 1", "decline 1", "pair --code", "offers --watch",
            ] {
                let words = words.split(separator: " ").map(String.init) + ["--json"]
                #expect(try Said(await places.kitchen.run(arguments: words)) == Said(69, "failed"), "\(words)")
            }
            for verb in [
                "peers", "receive", "offers", "status", "history", "type", "open", "visible", "inbox list",
                "inbox show",
                "inbox verify", "inbox take", "inbox remove", "inbox open", "inbox open-in", "open-in", "options",
                "inbox retry", "inbox adopt", "outbox list",
                "outbox show", "outbox cancel", "outbox retry", "outbox remove", "handlers list", "handlers show",
                "handlers add", "handlers remove", "handlers enable", "handlers disable", "handlers test",
                "handlers default", "contacts list", "contacts show", "contacts me", "contacts allow", "contacts set",
                "contacts rename", "contacts forget", "contacts block", "contacts unblock", "contacts group",
                "policy list",
                "policy test", "pair", "accept", "decline",
            ] {
                let words = verb.split(separator: " ").map(String.init) + ["--wrong", "--json"]
                #expect(try Said(await places.kitchen.run(arguments: words)) == Said(64, "failed"), "\(verb)")
            }
            #expect(try await places.kitchen("send", "--wrong") == Said(64, "failed", "done"))
            let daemon = try await places.kitchen.run(Programs.waftd, ["--wrong", "--json"])
            #expect(daemon.exit == 64 && daemon.events.map(\.event) == ["failed"], "\(daemon)")
        }
    }

    @Test("about offers, arrivals and sent items, with a receiver")
    func receiving() async throws {
        try await withPlaces { places in
            try await places.kitchen.becomeVisible()
            try await places.kitchen.withReceiver(Programs.waftd, ["--name", "kitchen"]) { running in
                #expect(try await places.kitchen("status") == Said(0, "status"))
                #expect(try await places.kitchen("accept", "9") == Said(66, "failed"))
                let names = ["a.txt", "b.txt", "c.txt"].map { places.folder + "/" + $0 }
                async let sent = places.study.run(arguments: ["send"] + names + ["--to", running.address, "--json"])
                let offer = try await running.log.first("offer")
                #expect(offer.v == 1)
                #expect(try await places.kitchen("offers") == Said(0, "offer"))
                #expect(try await places.kitchen("accept", "1", "--to", "Texts") == Said(0, "accepted"))
                #expect(try await Said(sent).events.suffix(4) == ["stored", "stored", "stored", "done"])
                async let refused = places.study.run(
                    arguments: ["send", "--text", "no", "--to", running.address, "--json"])
                _ = try await running.log.second("offer")
                #expect(try await places.kitchen("decline", "2") == Said(0, "declined"))
                #expect(try await Said(refused) == Said(12, "offered", "answered", "failed", "done"))
                #expect(
                    try await Said(places.study.run(arguments: ["history", "--sent", "--json"])).events == [
                        "transfer", "transfer",
                    ])
                #expect(try await places.kitchen("history") == Said(0, "arrival", "arrival", "arrival"))
                #expect(try await places.kitchen("inbox") == Said(0, "entry"))
                #expect(try await places.kitchen("inbox", "list", "--type", "public.text").events.count == 3)
                #expect(try await places.kitchen("inbox", "show", "a.txt") == Said(0, "arrival"))
                #expect(try await places.kitchen("inbox", "show", "none") == Said(66, "failed"))
                #expect(try await places.kitchen("inbox", "retry", "9") == Said(66, "failed"))
                #expect(try await places.kitchen("inbox", "take", "1", places.folder + "/none") == Said(66, "failed"))
                #expect(
                    try await places.kitchen("inbox", "take", "1", "none", places.folder) == Said(66, "taken", "failed")
                )
                #expect(try await places.kitchen("inbox", "remove", "2") == Said(0, "removed"))
                #expect(try await places.kitchen("inbox", "verify") == Said(0, "verified"))
                #expect(
                    try await places.kitchen("inbox", "verify", "1", "none") == Said(66, "absent", "absent", "verified")
                )
                unlink(running.inbox + "/Texts/c.txt")
                #expect(try await places.kitchen("inbox", "verify") == Said(17, "missing", "verified"))
                #expect(try await places.kitchen("inbox", "open", "c.txt") == Said(66, "failed"))
                #expect(try await places.kitchen("inbox", "adopt") == Said(0, "adopted"))
            }
        }
    }
}
