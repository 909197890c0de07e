import Foundation
import Subprocess
import Testing

/// The wall clock is set by days while the real programs run, on loopback.
@Suite("When the clock is set", .serialized, .timeLimit(.minutes(3)))
struct ClockTests {
    private static let day: Int64 = 86_400

    private struct Places: Sendable {
        var folder: String
        var clocks: MovedClocks
        var kitchen: Host
        var study: Host

        func file(_ name: String, _ text: String) throws -> String {
            try text.write(toFile: folder + "/" + name, atomically: false, encoding: .utf8)
            return folder + "/" + name
        }

        func send(_ words: [String], to receiver: RunningReceiver) async throws -> ProgramResult {
            try await study.run(arguments: ["send"] + words + ["--to", receiver.address, "--json"])
        }
    }

    /// Kitchen's clocks are the moved ones; study's are right.
    private func withPlaces(_ body: (Places) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let clocks = try await MovedClocks(in: folder)
            try await body(
                Places(
                    folder: folder, clocks: clocks, kitchen: clocks.on(.loopback(folder + "/kitchen")),
                    study: .loopback(folder + "/study")))
        }
    }

    @Test("transfers continue, whatever year it is on either side, and history has them in the order of arrival")
    func years() async throws {
        try await withPlaces { places in
            try await places.kitchen.withReceiver { kitchen in
                // Before and after all dates in the peers' certificates.
                for (number, years) in [0, 10, -40, 70, 0].enumerated() {
                    places.clocks.set(Int64(years) * 365 * Self.day)
                    let path = try places.file("\(number).txt", "\(number) \(years)")
                    let sent = try await places.send([path], to: kitchen)
                    #expect(sent.exit == 0, "\(years): \(sent.errors)")
                }
                let history = try await places.kitchen.run(arguments: ["history", "--json"])
                let names = history.output.matches(of: /"name":"(\d\.txt)"/).map { String($0.output.1) }
                let numbers = history.output.matches(of: /"(?:number|arrival)":(\d+)/).compactMap { Int($0.output.1) }
                #expect(numbers == numbers.sorted() || numbers == numbers.sorted(by: >), "\(history.output)")
                #expect(Set(names).count == 5, "\(history.output)")
            }
        }
    }

    @Test("a spoken code works whatever year it is, and a machine is remembered by the clock of each side")
    func codes() async throws {
        try await withPlaces { places in
            try await places.kitchen.withReceiver(Programs.waftd, []) { kitchen in
                for (number, years) in [-40, 10].enumerated() {
                    places.clocks.set(Int64(years) * 365 * Self.day)
                    let words = ["send", try places.file("\(number).txt", "\(number)"), "--code", "--remember", "1d"]
                    let sent = try await places.kitchen.withProgram(Programs.waft, words) { sending in
                        let code = try await SpokenCodeTests.code(of: sending)
                        let received = try await places.study.run(
                            arguments: ["receive", code, "--at", kitchen.address, "--remember", "1d"])
                        #expect(received.exit == 0, "\(years): \(received)")
                    }
                    #expect(sent.exit == 0, "\(years): \(sent.text)")
                    #expect(places.kitchen.contactsFile.contains("spokenCode"))
                    // The day is over.
                    places.clocks.set((Int64(years) * 365 + 2) * Self.day)
                    let contacts = try await places.kitchen.run(arguments: ["contacts"])
                    #expect(contacts.output == "", "\(contacts)")
                }
            }
        }
    }

    @Test("a visibility for a time ends in time when the clock is set back, and at once when it is set beyond its end")
    func visibility() async throws {
        try await withPlaces { places in
            try await places.kitchen.withReceiver(Programs.waftd, []) { _ in
                let host = places.kitchen
                @Sendable func choose(_ time: String) async throws {
                    let chosen = try await host.run(arguments: ["visible", "everyone", "--for", time])
                    try #require(chosen.exit == 0, "\(chosen.errors)")
                    #expect(chosen.output.contains("everyone"), "\(chosen.output)")
                }
                try await choose("10m")
                places.clocks.set(2 * Self.day)
                #expect(try await host.status().visibility == "contacts")
                places.clocks.set(0)
                try await choose("3s")
                places.clocks.set(-2 * Self.day)
                try await eventually { try await host.status().visibility == "contacts" }
            }
        }
    }

    @Test("an offer waits for its answer while the clock is set, forward and back", arguments: [2, -2])
    func consent(days: Int64) async throws {
        try await withPlaces { places in
            let path = try places.file("a.txt", "hello")
            try await places.kitchen.withReceiver(Programs.waftd, []) { kitchen in
                try await places.kitchen.becomeVisible()
                try await places.study.withProgram(
                    Programs.waft, ["send", path, "--to", kitchen.address, "--json"]
                ) { sender in
                    _ = try await kitchen.log.first("offer")
                    places.clocks.set(days * Self.day)
                    let shown = try await places.kitchen.run(arguments: ["offers"])
                    #expect(shown.output.contains("a.txt"))
                    let answer = try await places.kitchen.run(arguments: ["accept", "1"])
                    #expect(answer.exit == 0, "\(answer.errors)")
                    _ = try await kitchen.log.first("stored")
                    try await sender.transcript.says("\"event\":\"done\"")
                }
                #expect(try kitchen.names() == ["a.txt"])
            }
        }
    }

    @Test("a contact's temporary policy ends on its date, and holds again when the clock is put right")
    func contact() async throws {
        try await withPlaces { places in
            let (kitchen, study) = (places.kitchen, places.study)
            try await kitchen.allow(study, "Study", ["--policy", "accept", "--for", "1d"])
            try await kitchen.withReceiver(Programs.waftd, []) { running in
                let first = try await places.send([try places.file("a.txt", "a")], to: running)
                #expect(first.exit == 0, "\(first.errors)")
                places.clocks.set(2 * Self.day)
                try await study.withProgram(
                    Programs.waft, ["send", try places.file("b.txt", "b"), "--to", running.address]
                ) { _ in
                    while try await kitchen.run(arguments: ["decline", "1"]).exit != 0 { try Task.checkCancellation() }
                }
                places.clocks.set(0)
                let third = try await places.send([try places.file("c.txt", "c")], to: running)
                #expect(third.exit == 0, "\(third.errors)")
                #expect(try running.names() == ["a.txt", "c.txt"])
            }
        }
    }

    @Test(
        "the kept part of an interrupted file is resumed after the clock was set", arguments: [60, -60])
    func partial(days: Int64) async throws {
        try await withPlaces { places in
            let size = 400_000_000
            let arguments = ["receive", "--accept", "everyone"]
            let (path, _) = try await places.kitchen.withReceiver(Programs.waft, arguments) { first in
                let path = try await cut(places, size, to: first)
                // In a running receiver, and in one that starts with the wrong clock.
                places.clocks.set(days * Self.day)
                #expect(try await places.kitchen.status().keptPartials == 1)
                return path
            }
            try await places.kitchen.withReceiver(Programs.waft, arguments) { second in
                #expect(try await places.kitchen.status().keptPartials == 1)
                let sent = try await places.send([path], to: second)
                #expect(sent.exit == 0, "\(sent.errors)")
                let moved = try #require(sent.events.compactMap(\.moved).last)
                #expect(moved < UInt64(size))
                #expect(try second.names().contains((path as NSString).lastPathComponent) && second.kept() == [])
            }
        }
    }

    /// Sends files until the sender of one is killed in the middle of it: on a busy machine one may be through before.
    /// - Returns: the path of the file that was cut, and of which the receiver keeps a part.
    private func cut(_ places: Places, _ size: Int, to receiver: RunningReceiver) async throws -> String {
        var number = 0
        while true {
            number += 1
            let name = "big-\(number).bin"
            let path = try places.file(name, "")
            #expect(truncate(path, size) == 0)
            let words = ["send", path, "--to", receiver.address, "--json"]
            try await places.study.withProgram(Programs.waft, words) { sender in
                _ = try await sender.transcript.first("progress") { text in
                    text.contains(/"bytes":[1-9][0-9]{6}/) ? true : nil
                }
                kill(sender.process.value, SIGKILL)
            }
            // It is kept as soon as the receiver has noticed that its sender is gone.
            try await eventually {
                if try receiver.names().contains(name) { return true }
                return try await places.kitchen.status().keptPartials == 1
            }
            if try !receiver.names().contains(name) { return path }
        }
    }

    @Test("a job of the outbox is sent, and not given up, whatever time the clock has", arguments: [60, -60])
    func outbox(days: Int64) async throws {
        try await withPlaces { places in
            // Here the sender's clocks are the moved ones.
            let (sender, receiver) = (places.kitchen, places.study)
            let port = try freePort()
            @Sendable func queue(_ name: String) async throws {
                let path = try places.file(name, name)
                let queued = try await sender.run(arguments: ["send", path, "--to", "127.0.0.1:\(port)", "--queue"])
                try #require(queued.exit == 0, "\(queued.errors)")
            }
            try await queue("a.txt")
            places.clocks.set(days * Self.day)
            try await sender.withReceiver(Programs.waftd, []) { daemon in
                try await queue("b.txt")
                try await eventually {
                    try await sender.run(arguments: ["outbox", "show", "2", "--json"]).output
                        .contains("\"attemptCount\":1")
                }
                places.clocks.set(-days * Self.day)
                let arguments = ["receive", "--accept", "everyone", "--port", "\(port)"]
                try await receiver.withReceiver(Programs.waft, arguments) { running in
                    try await daemon.log.error(containing: "job=1 reason=- state=done")
                    try await daemon.log.error(containing: "job=2 reason=- state=done")
                    #expect(try running.names() == ["a.txt", "b.txt"])
                }
            }
        }
    }

    @Test("a sender whose machine slept through everything continues when it wakes")
    func asleep() async throws {
        try await withPlaces { places in
            let gate = places.folder + "/gate"
            try #require(mkfifo(gate, 0o600) == 0)
            let script = """
                { head -c 1048576 /dev/zero; cat '\(gate)'; head -c 4194304 /dev/zero; } \
                    | '\(Programs.waft)' send - --name pipe.bin --to
                """
            // Both machines sleep, at the same place, for ten hours.
            let study = places.clocks.on(places.study)
            try await places.kitchen.withReceiver { kitchen in
                let sent = try await study.withProgram("/bin/sh", ["-c", script + " " + kitchen.address]) { _ in
                    _ = try await kitchen.log.first("progress")
                    places.clocks.set(36_000, asleep: 36_000)
                    close(open(gate, O_WRONLY))
                    _ = try await kitchen.log.first("stored")
                }
                #expect(sent.exit == 0, "\(sent.text)")
                let next = try await places.send([try places.file("a.txt", "a")], to: kitchen)
                #expect(next.exit == 0, "\(next.errors)")
            }
        }
    }
}
