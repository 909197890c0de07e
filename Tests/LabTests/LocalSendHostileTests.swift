import Foundation
import Testing

/// Announcements that are not so: each makes a receiver open a connection, or not.
@Suite(
    "Hostile announcements by LocalSend", .serialized, .timeLimit(.minutes(2)),
    .enabled(if: Lab.isPossible, "NOT RUN: network namespaces need root; run Scripts/test as root"))
struct LocalSendHostileTests {
    private static let kitchenAddress = "192.168.77.1"
    private static let studyAddress = "192.168.77.2"
    private static let stranger = String(repeating: "AB", count: 32)

    /// Runs a receiver on `kitchen`, and a hostile machine with a server at the port 7000 on `study`.
    private func run(
        _ body: @Sendable @escaping (Lab, AppStandIn, RunningReceiver) async throws -> Void
    ) async throws {
        try await Lab.with(avahi: "none") { lab in
            let (kitchen, study) = (lab.host("kitchen"), lab.host("study"))
            try await kitchen.withReceiver(port: nil) { running in
                try await eventually { try await kitchen.run(arguments: ["status"]).output.contains("port 53317") }
                try await study.withHostile(at: Self.studyAddress) { hostile in
                    try await hostile.order(#"{"do":"serve","port":7000}"#)
                    try await hostile.event("serving")
                    try await body(lab, hostile, running)
                }
            }
        }
    }

    /// Waits until the receiver has handled all announcements so far: it answers a device that is what it says.
    private func settle(_ hostile: AppStandIn) async throws {
        try await hostile.order(
            #"{"do":"serve","port":7999,"answer":"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"}"#)
        let fingerprint = try await hostile.event("serving") { $0.port == 7_999 }.fingerprint ?? ""
        try await hostile.order(#"{"do":"shout","device":{"port":7999,"fingerprint":"\#(fingerprint)"}}"#)
        let visit = try await hostile.event("visited") { $0.port == 7_999 }
        #expect(visit.first == "POST /api/localsend/v2/register HTTP/1.1")
    }

    private func visits(_ port: Int, _ hostile: AppStandIn) async -> [AppEvent] {
        await hostile.events("visited").filter { $0.port == port }
    }

    @Test("a service with another certificate than the announced one gets no byte of HTTP")
    func victim() async throws {
        try await run { _, hostile, _ in
            try await hostile.order(#"{"do":"shout","device":{"port":7000,"fingerprint":"\#(Self.stranger)"}}"#)
            let visit = try await hostile.event("visited") { $0.port == 7_000 }
            #expect(visit.bytes == 0)
        }
    }

    @Test("a redirect is not followed")
    func redirect() async throws {
        try await run { _, hostile, _ in
            let answer = #"HTTP/1.1 307 X\r\nlocation: https://192.168.77.2:7000/x\r\ncontent-length: 0\r\n\r\n"#
            try await hostile.order(#"{"do":"serve","port":7001,"answer":"\#(answer)"}"#)
            let fingerprint = try await hostile.event("serving") { $0.port == 7_001 }.fingerprint ?? ""
            try await hostile.order(#"{"do":"shout","device":{"port":7001,"fingerprint":"\#(fingerprint)"}}"#)
            let visit = try await hostile.event("visited") { $0.port == 7_001 }
            #expect(visit.first == "POST /api/localsend/v2/register HTTP/1.1")
            try await settle(hostile)
            #expect(await visits(7_000, hostile).isEmpty)
        }
    }

    @Test("an announcement from outside this machine's networks, and one with its own fingerprint, make no connection")
    func outside() async throws {
        try await run { lab, hostile, _ in
            try await lab.call(["run", lab.name, "study", "ip", "address", "add", "203.0.113.9/32", "dev", "eth0"])
            try await lab.call([
                "run", lab.name, "kitchen", "ip", "route", "add", "203.0.113.0/24", "via", Self.studyAddress,
            ])
            try await hostile.order(#"{"do":"serve","port":7002,"host":"203.0.113.9"}"#)
            let outside = try await hostile.event("serving") { $0.port == 7_002 }.fingerprint ?? ""
            // The address can be reached.
            let reached = try await lab.host("kitchen").run(
                "/usr/bin/env", ["bash", "-c", "exec 3<>/dev/tcp/203.0.113.9/7002"])
            #expect(reached.exit == 0)
            _ = try await hostile.event("visited") { $0.port == 7_002 }
            try await hostile.order(
                #"{"do":"shout","source":"203.0.113.9","device":{"port":7002,"fingerprint":"\#(outside)"}}"#)
            try await hostile.event("shouted")
            let own = try await lab.host("study").withApp(
                "1.18", at: Self.studyAddress, #"{"port":53318}"#
            ) { app in try await app.event("device").fingerprint ?? "" }
            try await hostile.order(#"{"do":"shout","device":{"port":7000,"fingerprint":"\#(own)"}}"#)
            try await settle(hostile)
            #expect(await visits(7_002, hostile).count == 1)
            #expect(await visits(7_000, hostile).isEmpty)
        }
    }

    @Test("a flood of announcements opens few connections, and files come in meanwhile")
    func flood() async throws {
        try await run { lab, hostile, running in
            let (kitchen, study) = (lab.host("kitchen"), lab.host("study"))
            try "hello".write(toFile: lab.folder + "/a.txt", atomically: false, encoding: .utf8)
            try await hostile.order(#"{"do":"shout","times":100000,"pause":0.005,"device":{"port":7000}}"#)
            try await hostile.event("visited")
            try await study.withApp("1.18", at: Self.studyAddress, #"{"port":53318,"silent":true}"#) { app in
                let answer = try await app.send([lab.folder + "/a.txt"], to: Self.kitchenAddress + ":53317")
                #expect(answer.status == 200)
                try await app.event("sent")
            }
            #expect(try running.names() == ["a.txt"])
            #expect(try await kitchen.run(arguments: ["status"]).exit == 0)
            try await hostile.order(#"{"do":"hush"}"#)
            let seconds = try #require(try await hostile.event("shouted").seconds)
            let visits = await visits(7_000, hostile)
            #expect(visits.allSatisfy { $0.bytes == 0 })
            // 20 datagrams of an address are read in a second.
            #expect(visits.count <= 20 * (seconds + 2), "\(visits.count) connections in \(seconds) s")
        }
    }

    @Test("a device with the name of a contact is no contact")
    func contactName() async throws {
        try await Lab.with(avahi: "none") { lab in
            let (kitchen, study) = (lab.host("kitchen"), lab.host("study"))
            try await kitchen.allow(lab.host("study"), "Anna", ["--policy", "accept"])
            try "hello".write(toFile: lab.folder + "/a.txt", atomically: false, encoding: .utf8)
            try await study.withApp("1.18", at: Self.studyAddress, #"{"alias":"Anna"}"#) { app in
                let peers = try await kitchen.run(arguments: ["peers", "--timeout", "4", "--json"])
                #expect(peers.output.contains("\"name\":\"Anna\""), "\(peers.output)")
                #expect(!peers.output.contains("\"contact\""), "\(peers.output)")
                try await kitchen.becomeVisible()
                try await kitchen.withReceiver(Programs.waftd, [], port: nil) { running in
                    try await eventually { try await kitchen.run(arguments: ["status"]).output.contains("port 53317") }
                    async let answer = app.send([lab.folder + "/a.txt"], to: Self.kitchenAddress + ":53317")
                    // Asked about, as any stranger's.
                    try await eventually { try await kitchen.run(arguments: ["decline", "1"]).exit == 0 }
                    let refused = try await answer
                    #expect(refused.status == 403)
                    #expect(try running.names().isEmpty)
                }
            }
        }
    }
}
