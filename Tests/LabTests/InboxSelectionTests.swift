import Foundation
import Testing

/// The words and the options that say which items of the Inbox are meant, with the real programs.
@Suite("Selections of items, on loopback", .serialized)
struct InboxSelectionTests {
    /// Sends files of these names, which become the items 1, 2, … of a receiver.
    private func withItems(
        _ names: [String], _ body: @escaping @Sendable (Host, RunningReceiver, _ folder: String) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let sources = folder + "/sources"
            for path in [sources, folder + "/out"] {
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            }
            for name in names {
                try "\(name)\n".write(toFile: sources + "/" + name, atomically: false, encoding: .utf8)
            }
            let study = Host(home: folder + "/study", environment: ["WAFT_DISCOVERY": "off", "WAFT_NAME": "study"])
            let kitchen = Host.loopback(folder + "/kitchen")
            try await kitchen.withReceiver { running in
                let sent = try await study.run(
                    arguments: ["send", "--to", running.address, "--"] + names, in: sources)
                try #require(sent.exit == 0, "\(sent)")
                try await body(kitchen, running, folder)
            }
        }
    }

    @Test("an item is named by its path, from the working folder or from the Inbox")
    func paths() async throws {
        try await withItems(["a.txt", "b.txt", "c.txt"]) { kitchen, running, folder in
            #expect(try await kitchen.run(arguments: ["inbox", "remove", running.inbox + "/a.txt"]).exit == 0)
            let below = "kitchen/Documents/../Documents/Inbox/b.txt"
            #expect(try await kitchen.run(arguments: ["inbox", "remove", below], in: folder).exit == 0)
            let inside = try await kitchen.run(arguments: ["inbox", "show", "./c.txt"], in: running.inbox)
            #expect(inside.exit == 0 && inside.output.hasPrefix("3\n"), "\(inside)")
            #expect(try running.names() == ["c.txt"])
        }
    }

    @Test("remove asks once for a selection on a terminal, and only a yes removes")
    func question() async throws {
        try await withItems(["a.txt", "b.txt", "c.md"]) { kitchen, running, _ in
            for (answer, exit, left) in [("\n", 12, 3), ("y\n", 0, 1)] {
                let words = ["inbox", "remove", "--match", "*.txt"]
                let end = try await kitchen.atTerminal(words) { terminal in
                    try await terminal.transcript.says("Remove 2 items, 12 bytes? [y/n] ")
                    try await terminal.type(answer)
                }
                #expect(end.exit == exit && end.text.contains("a.txt"), "\(end.text)")
                #expect(try running.names().count == left)
            }
        }
    }

}
