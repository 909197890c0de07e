import Foundation
import Testing

/// A receiver whose files were damaged while it did not run.
@Suite("Damaged files of the state folder", .serialized)
struct DamagedStateTests {
    @Test(
        "journal and contacts are set aside, status reports it, nothing is delivered again, and the peer is the same"
    )
    func goesOn() async throws {
        try await withTemporaryFolder { folder in
            let study = Host.loopback(folder + "/study")
            var kitchen = Host.loopback(folder + "/kitchen")
            let place = try kitchen.useHook("#!/bin/sh\necho called >> calls\n", in: folder)
            let host = kitchen
            func calls() -> Int {
                let text = (try? String(contentsOfFile: place + "/calls", encoding: .utf8)) ?? ""
                return text.split(separator: "\n").count
            }
            @Sendable func send(_ name: String, to running: RunningReceiver) async throws -> Int {
                try name.write(toFile: folder + "/" + name, atomically: false, encoding: .utf8)
                let words = ["send", folder + "/" + name, "--to", running.address, "--wait", "opened"]
                return try await study.run(arguments: words).exit
            }
            let me = try await study.run(arguments: ["contacts", "me", "--json"]).output
            let key = try #require(me.split(separator: "\"").map(String.init).first { $0.utf8.count == 56 })
            #expect(try await host.run(arguments: ["contacts", "allow", key, "--name", "study"]).exit == 0)
            let first = try await host.withReceiver { running in
                let sent = try await send("a.txt", to: running)
                #expect(sent == 0)
                return running.id
            }.result
            #expect(calls() == 1)
            let state = host.home + "/state/"
            for name in ["journal.sqlite", "contacts.json"] {
                let file = try #require(FileHandle(forUpdatingAtPath: state + name))
                // The head of the first page of a database.
                try file.seek(toOffset: 100)
                try file.write(contentsOf: Data(repeating: 0xA5, count: 300))
                try file.close()
            }
            try await host.withReceiver { running in
                #expect(running.id == first)
                #expect(try await send("b.txt", to: running) == 0)
                #expect(try running.names() == ["a.txt", "b.txt"])
                let status = try await host.run(arguments: ["status"]).output
                #expect(status.contains("damaged          the contacts were damaged"), "\(status)")
                #expect(status.contains("damaged          the journal was damaged"), "\(status)")
            }
            #expect(calls() == 2)
            let contacts = try await host.run(arguments: ["contacts"])
            #expect(contacts.output.contains("study"), "\(contacts)")
            let aside = try FileManager.default.contentsOfDirectory(atPath: state).filter { $0.contains(".damaged-") }
            #expect(
                aside.contains { $0.hasPrefix("journal.sqlite.") } && aside.contains { $0.hasPrefix("contacts.json.") })
        }
    }
}
