import Foundation
import Subprocess
import Testing

/// The study sends to the group @lab of four hosts. All of it holds whether the contents go once or once for each host.
@Suite(
    "One to many", .serialized, .timeLimit(.minutes(2)),
    .enabled(if: Lab.isPossible, "NOT RUN: network namespaces need root; run Scripts/test as root"))
struct GroupTests {
    @Test("a file arrives at all four by a chain, with one line of progress and an outcome each")
    func all() async throws {
        try await GroupRoom.with(rate: "100mbit") { room in
            let before = try await room.sent()
            let words = ["send", "image.bin", "--to", "@lab"]
            let sending = try await room.study.atTerminal(words, in: room.lab.folder) { running in
                try await running.transcript.says("stored as image.bin", times: 4)
            }
            #expect(sending.exit == 0, "\(sending.text)")
            #expect(try await room.sent() - before < GroupRoom.size * 2)
            #expect(sending.text.contains("image.bin → 4 peers ["), "\(sending.text)")
            for name in GroupRoom.names {
                #expect(sending.text.contains("image.bin → \(name) ✓: stored as image.bin"), "\(sending.text)")
            }
            #expect(try room.having() == GroupRoom.names)
        }
    }

    @Test("with --no-relay the contents go from the sender to each")
    func star() async throws {
        try await GroupRoom.with { room in
            let before = try await room.sent()
            let result = try await room.send("--no-relay")
            #expect(result.exit == 0 && GroupRoom.stored(result) == GroupRoom.names, "\(result)")
            #expect(try await room.sent() - before > GroupRoom.size * 4)
            #expect(try room.having() == GroupRoom.names)
        }
    }

    @Test("one that declines has its own outcome, and the others get it")
    func declined() async throws {
        try await GroupRoom.with(policy: ["garage": "decline"]) { room in
            let result = try await room.send()
            #expect(result.exit != 0 && GroupRoom.stored(result) == ["attic", "cellar", "kitchen"], "\(result)")
            #expect(try room.having() == ["attic", "cellar", "kitchen"])
        }
    }

    @Test("one that passes nothing on, and one with a radio, get it all the same")
    func leaves() async throws {
        let environment = ["attic": ["WAFT_RELAY": "never"], "kitchen": ["WAFT_WIRELESS": "eth*"]]
        try await GroupRoom.with(environment: environment) { room in
            let result = try await room.send()
            #expect(result.exit == 0 && GroupRoom.stored(result) == GroupRoom.names, "\(result)")
            #expect(try room.having() == GroupRoom.names)
        }
    }

    @Test("one that says yes when the others have it gets it too")
    func late() async throws {
        try await GroupRoom.with(policy: ["attic": "ask"]) { room in
            let asked = try #require(room.members["attic"])
            async let result = room.send()
            _ = try await asked.log.first("offer")
            for name in GroupRoom.names.dropFirst() { _ = try await room.members[name]?.log.first("stored") }
            let yes = try await room.host("attic").run(arguments: ["accept", "1"])
            #expect(yes.exit == 0, "\(yes)")
            let outcome = try await result
            #expect(outcome.exit == 0 && GroupRoom.stored(outcome) == GroupRoom.names, "\(outcome)")
            #expect(try room.having() == GroupRoom.names)
        }
    }

    @Test("a sender that was killed and is started again goes on where it was")
    func resumed() async throws {
        try await GroupRoom.with(rate: "50mbit") { room in
            let words = ["send", "image.bin", "--to", "@lab"]
            try await room.study.withProgram(Programs.waft, words, in: room.lab.folder) { sending in
                for member in room.members.values {
                    _ = try await member.log.first("progress") { ($0.bytes ?? 0) > 2_500_000 }
                }
                kill(sending.process.value, SIGKILL)
            }
            for member in room.members.values { try await eventually { try !member.kept().isEmpty } }
            let before = try await room.sent()
            let result = try await room.send()
            #expect(result.exit == 0 && GroupRoom.stored(result) == GroupRoom.names, "\(result)")
            let moved = result.events.filter { $0.event == "stored" }.reduce(0) { $0 + ($1.moved ?? 0) }
            #expect(moved < UInt64(GroupRoom.size * 4), "\(moved)")
            // As a chain: each got the rest, and it left once.
            #expect(try await room.sent() - before < GroupRoom.size * 3 / 2)
            #expect(try room.having() == GroupRoom.names)
        }
    }

    @Test("with --queue the daemon sends it to all by a chain")
    func queued() async throws {
        try await GroupRoom.with { room in
            let before = try await room.sent()
            let queued = try await room.send("--queue")
            #expect(queued.exit == 0 && queued.events.count { $0.event == "queued" } == 4, "\(queued)")
            try await room.study.withReceiver(Programs.waftd, []) { _ in
                for member in room.members.values { _ = try await member.log.first("stored") }
                #expect(try room.having() == GroupRoom.names)
                // A stream each would be four times the size; a job that is ready late has one of its own.
                let sent = try await room.sent() - before
                #expect(sent < GroupRoom.size * 3, "\(sent)")
            }
        }
    }

    @Test("at a terminal Enter begins without one that has not answered, and that one gets it later")
    func enter() async throws {
        try await GroupRoom.with(policy: ["attic": "ask"]) { room in
            let asked = try #require(room.members["attic"])
            let words = ["send", "image.bin", "--to", "@lab"]
            let sending = try await room.study.atTerminal(words, in: room.lab.folder) { running in
                try await running.transcript.says("3 of 4 have answered; Enter begins without")
                #expect(try room.having() == [])
                try await running.type("\n")
                try await running.transcript.says("stored as image.bin", times: 3)
                _ = try await asked.log.first("offer")
                let yes = try await room.host("attic").run(arguments: ["accept", "1"])
                #expect(yes.exit == 0, "\(yes)")
                try await running.transcript.says("image.bin → attic ✓: stored as image.bin")
            }
            #expect(sending.exit == 0, "\(sending.text)")
            #expect(try room.having() == GroupRoom.names)
        }
    }

    @Test("two groups that cross, each with the other's sender in it, both end")
    func crossing() async throws {
        try await GroupRoom.with(rate: "100mbit") { room in
            let attic = room.host("attic")
            let others = ["study", "cellar", "garage", "kitchen"]
            for name in others {
                try await attic.allow(room.host(name), name, name == "study" ? ["--policy", "accept"] : [])
                try await room.host(name).allow(attic, "attic", ["--policy", "accept"])
            }
            let group = try await attic.run(arguments: ["contacts", "group", "lab", "add"] + others)
            #expect(group.exit == 0, "\(group.errors)")
            try GroupRoom.write("other.bin", in: room.lab.folder)
            try await room.study.withReceiver(Programs.waft, ["receive"]) { study in
                let words = ["send", "other.bin", "--to", "@lab", "--json"]
                async let back = attic.run(arguments: words, in: room.lab.folder)
                let there = try await room.send()
                #expect(there.exit == 0 && GroupRoom.stored(there) == GroupRoom.names, "\(there)")
                let outcome = try await back
                #expect(outcome.exit == 0 && GroupRoom.stored(outcome) == others.sorted(), "\(outcome)")
                #expect(try room.having() == GroupRoom.names)
                let all = GroupRoom(
                    lab: room.lab, study: room.study, members: room.members.merging(["study": study]) { $1 })
                #expect(try all.having("other.bin") == others.sorted())
            }
        }
    }

    @Test("hosts with link-local addresses of IPv6 alone are a chain too")
    func linkLocal() async throws {
        try await GroupRoom.with(
            rate: "100mbit",
            preparing: { lab in
                for name in ["study"] + GroupRoom.names {
                    for family in ["-4", "-6"] {
                        let words = ["ip", family, "address", "flush", "dev", "eth0", "scope", "global"]
                        let result = try await lab.host(name).run("/usr/bin/env", words)
                        #expect(result.exit == 0, "\(result.errors)")
                    }
                }
            }
        ) { room in
            let before = try await room.sent()
            let result = try await room.send()
            #expect(result.exit == 0 && GroupRoom.stored(result) == GroupRoom.names, "\(result)")
            #expect(try await room.sent() - before < GroupRoom.size * 2)
            #expect(try room.having() == GroupRoom.names)
        }
    }
}
