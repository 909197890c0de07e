import Foundation
import Subprocess
import Testing

/// The output of `waft offers` while a daemon runs.
@Suite("Offers that wait, seen from a shell", .serialized, .timeLimit(.minutes(1)))
struct OffersTests {
    /// A program that shows events until it is ended.
    private struct Watching: Sendable {
        let log: EventLog
        let lines: EventLog
        let process: ProcessIdentifier

        func interrupt() { kill(process.value, SIGINT) }
    }

    /// Runs `waft offers --watch` beside `body`.
    /// - Returns: its exit code and its standard error.
    private func watch(
        on host: Host, _ flags: [String] = ["--json"], _ body: @Sendable @escaping (Watching) async throws -> Void
    ) async throws -> (exit: Int, errors: String) {
        let (log, text) = (EventLog(), EventLog())
        let configuration = host.configuration(Programs.waft, ["offers", "--watch"] + flags)
        let result = try await Subprocess.run(
            configuration, input: .none, output: .sequence, error: .sequence
        ) { execution in
            let output = Task {
                for try await line in execution.standardOutput.strings() {
                    await log.add(line)
                    await text.addError(line + "\n")
                }
                await log.end()
                await text.end()
            }
            let errors = Task {
                for try await line in execution.standardError.strings() { await log.addError(line + "\n") }
            }
            let watching = Watching(log: log, lines: text, process: execution.processIdentifier)
            do {
                try await body(watching)
            } catch {
                watching.interrupt()
                throw error
            }
            _ = try? await (output.value, errors.value)
        }
        return (result.terminationStatus.code, await log.errors)
    }

    private func withPair(_ body: @escaping @Sendable (_ kitchen: Host, _ study: Host, String) async throws -> Void)
        async throws
    {
        try await withTemporaryFolder { folder in
            try "hello".write(toFile: folder + "/note.txt", atomically: false, encoding: .utf8)
            let kitchen = Host.loopback(folder + "/kitchen")
            var study = Host.loopback(folder + "/study")
            study.environment["WAFT_NAME"] = "Anna"
            try await kitchen.becomeVisible()
            try await body(kitchen, study, folder + "/note.txt")
        }
    }

    @Test("waft offers --watch shows each offer and its end, and ends with 0 on Ctrl-C")
    func events() async throws {
        try await withPair { kitchen, study, file in
            try await kitchen.withReceiver(Programs.waftd, ["--name", "kitchen"]) { running in
                let watched = try await watch(on: kitchen) { watching in
                    let ready = try await watching.log.first("ready")
                    #expect((ready.name, ready.port, ready.id) == ("kitchen", running.port, running.id))
                    for (verb, exit, number) in [("accept", 0, 1), ("decline", 12, 2)] {
                        async let sending = study.run(arguments: ["send", file, "--to", running.address])
                        let offer = try await watching.log.first("offer") { $0.offer == number }
                        #expect(offer.from?.name == "Anna")
                        #expect(try await kitchen.run(arguments: [verb, "\(number)"]).exit == 0)
                        let answered = try await watching.log.first("answered") { $0.offer == number }
                        #expect(answered.transfer == offer.transfer)
                        #expect(try await sending.exit == exit)
                    }
                    let stored = try await watching.log.first("stored")
                    #expect(stored.path == running.inbox + "/note.txt")
                    _ = try await watching.log.first("done")
                    watching.interrupt()
                }
                #expect(watched.exit == 0)
                #expect(watched.errors == "")
            }
        }
    }

    @Test("people see a line when an offer comes, with its sender, and one when it is settled")
    func lines() async throws {
        try await withPair { kitchen, study, file in
            // A contact with the name that the stranger uses, and another key.
            let other = try await Host.loopback(kitchen.home + "-other").run(arguments: ["contacts", "me", "--json"])
            struct Me: Decodable { var id: String }
            let id = try JSONDecoder().decode(Me.self, from: Data(other.output.utf8)).id
            #expect(try await kitchen.run(arguments: ["contacts", "allow", id, "--name", "Anna"]).exit == 0)
            try await kitchen.withReceiver(Programs.waftd, []) { running in
                let watched = try await watch(on: kitchen, []) { watching in
                    async let sending = study.run(arguments: ["send", file, "--to", running.address])
                    try await watching.lines.error(containing: "1: stranger \"Anna\" (")
                    try await watching.lines.error(containing: "\n  warning: this is not your contact Anna: ")
                    let list = try await kitchen.run(arguments: ["offers"])
                    #expect(list.output.contains("1: stranger \"Anna\" ("), "\(list.output)")
                    #expect(list.output.contains("\n  warning: this is not your contact Anna: "))
                    #expect(list.output.contains("\n  note.txt  Plain text document, 5 bytes\n"))
                    let one = try await kitchen.run(arguments: ["offers", "1"])
                    #expect(one.output == list.output)
                    #expect(try await kitchen.run(arguments: ["offers", "2"]).exit == 66)
                    #expect(try await kitchen.run(arguments: ["decline", "1"]).exit == 0)
                    try await watching.lines.error(containing: "\n1: declined\n")
                    #expect(try await sending.exit == 12)
                    watching.interrupt()
                }
                #expect(watched.exit == 0)
            }
        }
    }

    @Test("watching ends with 69 and one event when the daemon goes, and does not begin where none is")
    func gone() async throws {
        try await withPair { kitchen, _, _ in
            let none = try await kitchen.run(arguments: ["offers", "--watch"])
            #expect(none.exit == 69)
            for kind in [SIGTERM, SIGKILL] {
                let watched = try await kitchen.withReceiver(Programs.waftd, []) { running in
                    try await watch(on: kitchen) { watching in
                        _ = try await watching.log.first("ready")
                        kill(running.process.value, kind)
                        let failed = try await watching.log.first("failed")
                        #expect(failed.exit == 69)
                        #expect(failed.reason == "the receiver ended, or its events were read too slowly")
                    }
                }
                #expect(watched.result.exit == 69)
                #expect(watched.result.errors == "")
            }
        }
    }

    @Test("commands that were stopped, and watch, hold up neither the daemon nor other commands")
    func stopped() async throws {
        try await withPair { kitchen, study, file in
            try await kitchen.withReceiver(Programs.waftd, []) { running in
                let watched = try await watch(on: kitchen) { watching in
                    _ = try await watching.log.first("ready")
                    kill(watching.process.value, SIGSTOP)
                    for number in 1...5 {
                        async let sending = study.run(arguments: ["send", file, "--to", running.address])
                        while try await kitchen.run(arguments: ["accept", "\(number)"]).exit != 0 {}
                        #expect(try await sending.exit == 0)
                    }
                    kill(watching.process.value, SIGCONT)
                    _ = try await watching.log.first("answered") { $0.offer == 5 }
                    watching.interrupt()
                }
                #expect(watched.exit == 0)
            }
        }
    }
}
