import Foundation
import Subprocess
import Testing

/// An attacker on the network that announces a contact's name with its own key (security rule 1).
@Suite(
    "Forged mDNS records", .serialized, .timeLimit(.minutes(3)),
    .enabled(if: Lab.isPossible, "NOT RUN: network namespaces need root; run Scripts/test as root"))
struct ForgedRecordTests {
    /// A sender whose contact `Cook` is a key of another home, in a lab.
    private func withLab(
        avahi: String, _ body: @Sendable @escaping (_ cook: Host, _ impostor: Host, _ study: Host) async throws -> Void
    ) async throws {
        try await Lab.with(avahi: avahi) { lab in
            let (cook, study) = (lab.host("kitchen"), lab.host("study"))
            var impostor = lab.host("kitchen")
            impostor.home = lab.folder + "/impostor"
            try "secret plans".write(toFile: lab.folder + "/plans.txt", atomically: false, encoding: .utf8)
            try await study.allow(cook, "Cook")
            try await body(cook, impostor, study)
        }
    }

    private static let receiving = ["receive", "--accept", "everyone", "--name"]

    private func send(_ study: Host) async throws -> ProgramResult {
        let folder = URL(fileURLWithPath: study.home).deletingLastPathComponent().path
        return try await study.run(arguments: ["send", "plans.txt", "--to", "Cook"], in: folder)
    }

    /// The sender has stopped, and names the key that it found and the one that it expected.
    private func expectStopped(_ outcome: ProgramResult, cook: Host, impostor: String) async throws {
        #expect(outcome.exit == 11, "\(outcome.errors)")
        let wanted = try await cook.ownID()
        for id in [wanted, impostor] {
            let short = stride(from: 0, to: 16, by: 4).map { id.dropFirst($0).prefix(4) }.joined(separator: "-")
            #expect(outcome.errors.contains(short), "\(outcome.errors)")
        }
        #expect(outcome.errors.contains("nothing was sent"), "\(outcome.errors)")
    }

    @Test(
        "a receiver that goes by a contact's name gets no metadata, alone or beside the contact",
        arguments: ["none", "all"])
    func namesake(avahi: String) async throws {
        try await withLab(avahi: avahi) { cook, impostor, study in
            try await impostor.withReceiver(Programs.waft, Self.receiving + ["Cook"]) { running in
                try await expectStopped(try await send(study), cook: cook, impostor: running.id)
                // The contact itself, under another name.
                try await cook.withReceiver(Programs.waft, Self.receiving + ["kitchen"]) { real in
                    let outcome = try await send(study)
                    #expect(outcome.exit == 0, "\(outcome.errors)")
                    #expect(try real.names() == ["plans.txt"])
                }
                // The contact's address is known now, and the impostor is still there.
                try await expectStopped(try await send(study), cook: cook, impostor: running.id)
                #expect(await running.log.count("offer") == 0)
                #expect(try running.names().isEmpty)
            }
        }
    }

    @Test("a receiver at the address where a contact was gets no metadata")
    func sameAddress() async throws {
        try await withLab(avahi: "none") { cook, impostor, study in
            let port = try await cook.withReceiver(Programs.waft, Self.receiving + ["kitchen"]) { real -> Int in
                let sent = try await send(study)
                #expect(sent.exit == 0, "\(sent.errors)")
                return real.port
            }.result
            try await impostor.withReceiver(Programs.waft, Self.receiving + ["other", "--port", "\(port)"]) { running in
                try await expectStopped(try await send(study), cook: cook, impostor: running.id)
                #expect(await running.log.count("offer") == 0)
            }
        }
    }

    @Test("a raw record with the contact's name leads to a peer that is asked for its card, and for nothing else")
    func record() async throws {
        try await withLab(avahi: "all") { cook, impostor, study in
            let facts = #"{"name": "Cook", "host": "0.0.0.0"}"#
            try await impostor.withStranger("serve", [facts]) { stranger in
                let port = try await stranger.event("listening").port ?? 0
                let record = ["-s", "Cook", "_waft._tcp", "\(port)", "v=1"]
                try await impostor.withProgram("/usr/bin/avahi-publish", record, signal: .interrupt) { publishing in
                    try await publishing.transcript.says("Established")
                    let outcome = try await send(study)
                    #expect(outcome.exit == 11, "\(outcome.errors)")
                    #expect(outcome.errors.contains("another key"), "\(outcome.errors)")
                }
                let asked = await stranger.events.compactMap(\.path)
                #expect(!asked.isEmpty)
                #expect(asked.allSatisfy { $0 == "/waft/1/card" }, "\(asked)")
            }
        }
    }
}
