import Foundation
import Subprocess
import Testing

/// The study sends to the group @lab of four hosts, and one of them fails in the middle.
@Suite(
    "One to many, with a fault", .serialized, .timeLimit(.minutes(2)),
    .enabled(if: Lab.isPossible, "NOT RUN: network namespaces need root; run Scripts/test as root"))
struct GroupFaultTests {
    @Test(
        "one that is killed or stopped in the middle does not keep the others from it, and goes on at the next sending",
        arguments: [SIGKILL, SIGTERM])
    func ended(signal: CInt) async throws {
        try await GroupRoom.with(rate: "50mbit") { room in
            let victim = try #require(room.members["cellar"])
            async let result = room.send("--timeout", "3")
            _ = try await victim.log.first("progress") { ($0.bytes ?? 0) > 2_500_000 }
            kill(victim.process.value, signal)
            let (exit, stored) = (try await result.exit, GroupRoom.stored(try await result))
            #expect(exit != 0)
            #expect(stored == ["attic", "garage", "kitchen"])
            #expect(try room.having() == stored)
            try await room.host("cellar").withReceiver(Programs.waft, ["receive"]) { _ in
                let again = try await room.send()
                #expect(again.exit == 0 && GroupRoom.stored(again) == GroupRoom.names, "\(again)")
                let moved = try #require(
                    again.events.first { $0.peer?.contact == "cellar" && $0.event == "stored" }?.moved)
                #expect(moved < UInt64(GroupRoom.size), "\(moved)")
            }
            #expect(try room.having() == GroupRoom.names)
        }
    }

    @Test("one whose cable is out for a while, and one that another cannot reach, keep nobody waiting, and get it too")
    func parted() async throws {
        try await GroupRoom.with(rate: "20mbit") { room in
            try await room.part("attic", from: "cellar")
            async let result = room.send()
            _ = try await room.members["kitchen"]?.log.first("progress")
            try await room.lab.call(["link", room.lab.name, "garage", "down"])
            for name in ["attic", "cellar", "kitchen"] { _ = try await room.members[name]?.log.first("stored") }
            try await room.lab.call(["link", room.lab.name, "garage", "up"])
            let outcome = try await result
            #expect(outcome.exit == 0 && GroupRoom.stored(outcome) == GroupRoom.names, "\(outcome)")
            #expect(try room.having() == GroupRoom.names)
        }
    }

    @Test("of a relay that lies in one byte nobody keeps it, and the two that it is between are parted")
    func liar() async throws {
        try await withTemporaryFolder { folder in
            let library = folder + "/liar.so"
            let words = ["-shared", "-fPIC", "-o", library, Programs.root + "/Scripts/bench.d/liar.c", "-lssl"]
            let built = try await Host(home: folder).run("/usr/bin/cc", words)
            try #require(built.exit == 0, "\(built.errors)")
            let environment = ["cellar": ["LD_PRELOAD": library, "LIE_AT": "20"]]
            try await GroupRoom.with(environment: environment, rate: "100mbit") { room in
                let before = try await room.sent()
                let result = try await room.send()
                try await room.members["cellar"]?.log.error(containing: "one byte is wrong")
                #expect(result.exit == 0 && GroupRoom.stored(result) == GroupRoom.names, "\(result)")
                #expect(try room.having() == GroupRoom.names)
                // The garage comes after the cellar. It gets the rest by itself, and the kitchen stays in the chain.
                let left = try await room.members["garage"]?.log.first("failed")
                #expect(left?.reason == "the sender goes on without the group")
                for name in ["attic", "cellar", "kitchen"] {
                    #expect(await room.members[name]?.log.count("failed") == 0)
                }
                #expect(try await room.sent() - before < GroupRoom.size * 5 / 2)
            }
        }
    }
}
