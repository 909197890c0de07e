import Foundation
import Testing

/// Tests with OpenDrop, an independent implementation of AirDrop, in both directions.
@Suite(
    "OpenDrop", .serialized, .timeLimit(.minutes(5)),
    .enabled(if: Programs.arePossible, "run Scripts/setup-interop, and the tests as root"))
struct OpenDropTests {
    /// Bytes of the large file; 200 MB as in the figures.
    private static let largeBytes = 200_000_000

    /// Searches until a receiver of this name is found.
    private func find(_ name: String, _ lab: InteropLab, home: String, on link: String = "eth0") async throws {
        for _ in 0..<10 where try await isFound(name, lab, home: home, on: link) { return }
        Issue.record("OpenDrop never found \(name)")
    }

    /// Searches once. OpenDrop stores the receivers that it finds in its home.
    private func isFound(
        _ name: String, _ lab: InteropLab, home: String, on link: String = "eth0"
    ) async throws -> Bool {
        let path = home + "/.opendrop/discover.last.json"
        try? FileManager.default.removeItem(atPath: path)
        let search = ["timeout", "--foreground", "-s", "INT", "4", Programs.opendrop, "find", "-i", link]
        _ = try await lab.run("study", search, environment: ["HOME": home], in: home)
        let report = FileManager.default.contents(atPath: path) ?? Data()
        return String(decoding: report, as: UTF8.self).contains("\"name\": \"\(name)\"")
    }

    @Test(
        "OpenDrop finds this receiver and sends it files of all kinds, and a link, whatever addresses the receiver has",
        arguments: [["kitchen", "study"], ["study"]])
    func receiving(linkLocal: [String]) async throws {
        try await InteropLab.with(linkLocal: linkLocal) { lab in
            let home = try lab.home("study")
            let names = try Samples.write(to: home, largeBytes: Self.largeBytes)
            let kitchen = ["WAFT_HOME": try lab.home("kitchen"), "WAFT_NAME": "Kitchen"]
            let inbox = try lab.home("kitchen") + "/Documents/Inbox"
            try await lab.running(
                "kitchen", [Programs.waft, "receive", "--accept", "everyone", "--json"], environment: kitchen,
                sign: "\"ready\""
            ) {
                try await find("Kitchen", lab, home: home)
                for name in names {
                    let sent = try await lab.run(
                        "study", [Programs.opendrop, "send", "-i", "eth0", "-r", "0", "-f", name],
                        environment: ["HOME": home], in: home)
                    // OpenDrop's exit code is always 0.
                    #expect((sent.output + sent.errors).contains("successful"), "\(name): \(sent.errors)")
                    #expect(Samples.areEqual(home + "/" + name, inbox + "/" + name), "\(name) arrived otherwise")
                }
                // OpenDrop reports its own sending of links as a failure, since there is nothing to upload.
                _ = try await lab.run(
                    "study",
                    [Programs.opendrop, "send", "-i", "eth0", "-r", "0", "-f", "https://example.com/x", "--url"],
                    environment: ["HOME": home], in: home)
                let link = try String(contentsOfFile: inbox + "/example.com.url", encoding: .utf8)
                #expect(link.contains("URL=https://example.com/x"))
                let history = try await lab.run(
                    "kitchen", [Programs.waft, "history", "--json"], environment: kitchen)
                #expect(history.output.split(separator: "\n").count == names.count + 1)
                #expect(history.output.split(separator: "\n").allSatisfy { $0.contains("\"via\":\"airdrop\"") })
            }
        }
    }

    @Test("over a radio link of Apple's, OpenDrop sends a file to this receiver, and gets one from here")
    func radioLink() async throws {
        try await InteropLab.with(link: "awdl0") { lab in
            let (home, arrived) = (try lab.home("study"), try lab.home("study", "arrived"))
            let own = try lab.home("kitchen")
            let kitchen = ["WAFT_HOME": own + "/.waft", "WAFT_NAME": "Kitchen"]
            for place in [home, own] {
                try "a note".write(toFile: place + "/note.txt", atomically: true, encoding: .utf8)
            }
            try await lab.running(
                "kitchen", [Programs.waft, "receive", "--accept", "everyone", "--json"], environment: kitchen,
                sign: "\"ready\""
            ) {
                try await find("Kitchen", lab, home: home, on: "awdl0")
                let sent = try await lab.run(
                    "study", [Programs.opendrop, "send", "-i", "awdl0", "-r", "0", "-f", "note.txt"],
                    environment: ["HOME": home], in: home)
                #expect((sent.output + sent.errors).contains("successful"), "\(sent.errors)")
                #expect(Samples.areEqual(home + "/note.txt", own + "/.waft/Documents/Inbox/note.txt"))
            }
            try await lab.running(
                "study", [Programs.opendrop, "receive", "-i", "awdl0", "-n", "Bob"], environment: ["HOME": home],
                in: arrived, sign: nil
            ) {
                let sent = try await lab.run(
                    "kitchen", [Programs.waft, "send", "--to", "bob", "--timeout", "60", "note.txt"],
                    environment: kitchen, in: own)
                #expect(sent.exit == 0, "\(sent.errors)")
                #expect(Samples.areEqual(own + "/note.txt", arrived + "/note.txt"))
            }
        }
    }

    @Test("OpenDrop finds waftd only while it is visible to everyone, and sends it the accepted items")
    func visibility() async throws {
        try await InteropLab.with { lab in
            let kitchen = ["WAFT_HOME": try lab.home("kitchen"), "WAFT_NAME": "Kitchen"]
            let home = try lab.home("study")
            let inbox = try lab.home("kitchen") + "/Documents/Inbox"
            try "a note".write(toFile: home + "/note.txt", atomically: true, encoding: .utf8)
            @Sendable func waft(_ words: String...) async throws -> InteropLab.ProgramResult {
                try await lab.run("kitchen", [Programs.waft] + words, environment: kitchen)
            }
            @Sendable func waitForStatus(_ words: String) async throws {
                while try await !waft("status").output.contains(words) { try Task.checkCancellation() }
            }
            @Sendable func hasLoadedArchives() async throws -> Bool {
                struct Status: Decodable { var processID: Int }
                let status = try await waft("status", "--json").output
                let process = try JSONDecoder().decode(Status.self, from: Data(status.utf8)).processID
                let maps = try await lab.run("kitchen", ["cat", "/proc/\(process)/maps"]).output
                try #require(maps.contains("libssl"))
                return maps.contains("libarchive")
            }
            try await lab.running("kitchen", [Programs.waftd], environment: kitchen, sign: nil) {
                try await waitForStatus("off: not visible to everyone")
                #expect(try await !isFound("Kitchen", lab, home: home))
                #expect(try await waft("visible", "everyone").exit == 0)
                try await waitForStatus("AirDrop          published as ")
                try await find("Kitchen", lab, home: home)
                #expect(try await !hasLoadedArchives(), "waiting costs what only contents need")
                async let sending = lab.run(
                    "study", [Programs.opendrop, "send", "-i", "eth0", "-r", "0", "-f", "note.txt"],
                    environment: ["HOME": home], in: home)
                while try await waft("accept", "1").exit != 0 { try Task.checkCancellation() }
                let sent = try await sending
                #expect((sent.output + sent.errors).contains("successful"), "\(sent.errors)")
                #expect(Samples.areEqual(home + "/note.txt", inbox + "/note.txt"))
                #expect(try await hasLoadedArchives())
                #expect(try await waft("visible", "contacts").exit == 0)
                try await waitForStatus("off: not visible to everyone")
                #expect(try await !isFound("Kitchen", lab, home: home))
            }
        }
    }

    @Test("files of all kinds, several at once, a folder and a link are sent to OpenDrop")
    func sending() async throws {
        try await InteropLab.with { lab in
            let home = try lab.home("study")
            let arrived = try lab.home("study", "arrived")
            let own = try lab.home("kitchen")
            let names = try Samples.write(to: own, largeBytes: Self.largeBytes)
            try FileManager.default.createDirectory(
                atPath: own + "/folder/inside", withIntermediateDirectories: true)
            try "deep".write(toFile: own + "/folder/inside/file", atomically: true, encoding: .utf8)
            let kitchen = ["WAFT_HOME": own + "/.waft"]
            @Sendable func send(_ words: String...) async throws {
                let sent = try await lab.run(
                    "kitchen", [Programs.waft, "send", "--to", "bob", "--timeout", "60"] + words, environment: kitchen,
                    in: own)
                #expect(sent.exit == 0, "\(words): \(sent.errors)")
                #expect(sent.output.contains("the other side says it has it"), "\(sent.output)")
            }
            try await lab.running(
                "study", [Programs.opendrop, "receive", "-i", "eth0", "-n", "Bob"], environment: ["HOME": home],
                in: arrived, sign: nil
            ) {
                let peers = try await lab.run(
                    "kitchen", [Programs.waft, "peers", "--timeout", "20", "--json"], environment: kitchen)
                #expect(peers.output.contains("\"name\":\"Bob\"") && peers.output.contains("\"via\":\"airdrop\""))
                let refused = try await lab.run(
                    "kitchen", [Programs.waft, "send", "--to", "bob", "--wait", "opened", names[0]],
                    environment: kitchen, in: own)
                #expect(refused.exit == 64 && refused.errors.contains("does not tell whether anything was opened"))
                #expect(try FileManager.default.contentsOfDirectory(atPath: arrived).isEmpty)
                for name in names {
                    try await send(name)
                    #expect(Samples.areEqual(own + "/" + name, arrived + "/" + name), "\(name) arrived otherwise")
                    try FileManager.default.removeItem(atPath: arrived + "/" + name)
                }
                try await send(names[0], names[1], names[2], "folder")
                for name in names[0...2] + ["folder/inside/file"] {
                    #expect(Samples.areEqual(own + "/" + name, arrived + "/" + name), "\(name) arrived otherwise")
                }
                try await send("--url", "https://example.com/y")
                #expect(FileManager.default.fileExists(atPath: arrived + "/example.com.webloc"))
            }
        }
    }
}
