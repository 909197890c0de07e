import Foundation
import Subprocess
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

    @Test("an item whose name looks like a pattern, a number, a range or an option is removed alone, by its name")
    func names() async throws {
        let names = ["*", "1", "1-99", "--all", "[a-z]", "b"]
        try await withItems(names) { kitchen, running, _ in
            let both = try await kitchen.run(arguments: ["inbox", "remove", "b", "1"])
            #expect(both.exit == 64 && both.errors.contains("1 is the number of *, and the name of item 2"), "\(both)")
            #expect(try Set(running.names()) == Set(names), "wrong usage removes nothing")
            var left = Set(names)
            // The item with the number 1 has left when the one of that name is removed.
            for words in [["*"], ["1"], ["1-99"], ["--", "--all"], ["[a-z]"]] {
                let removed = try await kitchen.run(arguments: ["inbox", "remove"] + words)
                left.remove(words[words.count - 1])
                #expect(removed.exit == 0, "\(removed)")
                #expect(try Set(running.names()) == left)
            }
            for word in ["?", "6-6", "5,6", "06", "../sources/b"] {
                let refused = try await kitchen.run(arguments: ["inbox", "remove", word])
                #expect(refused.exit == 66, "\(refused)")
            }
            #expect(try running.names() == ["b"])
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

    @Test("an item that its user has renamed or moved in the Inbox is the same item, with a receiver and without one")
    func renamed() async throws {
        try await withItems(["a.txt", "b.txt"]) { kitchen, running, folder in
            func inbox(_ words: String...) async throws -> ProgramResult {
                try await kitchen.run(arguments: ["inbox"] + words)
            }
            let files = FileManager.default
            try files.createDirectory(atPath: running.inbox + "/done", withIntermediateDirectories: true)
            try files.moveItem(atPath: running.inbox + "/a.txt", toPath: running.inbox + "/done/first.txt")
            let shown = try await inbox("show", "first.txt", "--json").events
            #expect(shown.first?.arrival == 1 && shown.first?.path == running.inbox + "/done/first.txt", "\(shown)")
            #expect(try await inbox("verify").exit == 0)
            #expect(try await inbox("show", "a.txt").exit == 66)
            running.signal(.terminate)
            try await eventually { try await kitchen.run(arguments: ["status"]).exit == 69 }
            try files.moveItem(atPath: running.inbox + "/done/first.txt", toPath: running.inbox + "/b2.txt")
            try files.moveItem(atPath: running.inbox + "/b.txt", toPath: running.inbox + "/done/first.txt")
            let listed = try await inbox("list", "--json").events
            #expect(listed.contains { $0.stored == "b2.txt" && $0.arrival == 1 }, "\(listed)")
            #expect(try await inbox("take", "2", folder + "/out").exit == 0)
            #expect(try String(contentsOfFile: folder + "/out/first.txt", encoding: .utf8) == "b.txt\n")
            #expect(try await inbox("remove", "b2.txt").exit == 0)
        }
    }

    @Test("options select items for take, remove and open-in; --dry-run lists them, and remove needs --yes")
    func options() async throws {
        try await withItems(["f1.txt", "f2.txt", "g.txt", "f3.md"]) { kitchen, running, folder in
            func inbox(_ words: String...) async throws -> ProgramResult {
                try await kitchen.run(arguments: ["inbox"] + words)
            }
            let shown = try await inbox("remove", "--match", "f*.txt", "--dry-run", "--json").events
            #expect(shown.map(\.stored) == ["f1.txt", "f2.txt"] && shown.allSatisfy { $0.event == "arrival" })
            let refused = try await inbox("remove", "--match", "f*.txt")
            #expect(refused.exit == 64 && refused.errors.hasPrefix("waft: 2 items, 14 bytes would be removed: --yes"))
            #expect(try await inbox("remove", "--match", "f*.txt", "2").exit == 64, "named and selected")
            #expect(try await inbox("remove").exit == 64)
            #expect(try await inbox("remove", "--numbers", "4-1", "--yes").exit == 64)
            #expect(try await inbox("remove", "--match", "none*", "--yes").exit == 66)
            #expect(try await inbox("open-in", "--numbers", "1-2").exit == 64, "without a program")
            #expect(try running.names().count == 4)
            let taken = try await inbox("take", "--numbers", "1,3-9", "--match", "*.txt", folder + "/out")
            #expect(taken.exit == 0 && taken.output.split(separator: "\n").count == 2, "\(taken)")
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: folder + "/out").sorted() == ["f1.txt", "g.txt"])
            let removed = try await inbox("remove", "--from", "study", "--since", "1h", "--match", "*.txt", "--yes")
            #expect(removed.output == "2  f2.txt: removed\n", "\(removed)")
            #expect(try running.names() == ["f3.md"])
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

    @Test("the list has the times of arrival and the newest item last, whatever time the sender's file has")
    func list() async throws {
        try await withItems(["z.txt", "a.txt"]) { kitchen, running, folder in
            let old = folder + "/sources/old.txt"
            try "old\n".write(toFile: old, atomically: false, encoding: .utf8)
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 0)], ofItemAtPath: old)
            let study = Host.loopback(folder + "/study")
            #expect(try await study.run(arguments: ["send", old, "--to", running.address]).exit == 0)
            #expect(FileManager.default.createFile(atPath: running.inbox + "/mine.txt", contents: nil))
            let lines = try await kitchen.run(arguments: ["inbox"]).output.split(separator: "\n")
            #expect(lines.first == "No.        Size  Arrived              Item")
            let items = ["mine.txt", "z.txt from", "a.txt from", "old.txt from"]
            #expect(lines.count == 6 && zip(lines.dropFirst(), items).allSatisfy { $0.contains($1) }, "\(lines)")
            #expect(!lines.contains { $0.contains("1970") }, "\(lines)")
            let documents = try await kitchen.run(arguments: ["inbox", "--since", "1h", "--json"]).output
            let last = try #require(documents.split(separator: "\n").last)
            #expect(last.contains(#""modified":"1970-01-01"#) && last.contains(#""arrived":"20"#), "\(last)")
        }
    }
}
