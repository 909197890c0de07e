import Foundation
import Testing

/// Excluded parts of folders, and `--dry-run`.
@Suite("Excluded files, on loopback", .serialized)
struct SelectionTests {
    /// A folder with objects, a repository, a pipe and a link that leads out of it.
    private func makeProject(in folder: String) async throws {
        let script = """
            mkdir -p project/.git project/src/deep project/empty
            echo x >project/.git/HEAD; echo b >project/src/b.c; echo o >project/src/b.o; echo d >project/src/deep/d.c
            mkfifo project/src/pipe; ln -s /etc/passwd project/out; ln -s src/b.c project/in
            """
        let outcome = try await Host.loopback(folder + "/study").run("/bin/sh", ["-c", script], in: folder)
        try #require(outcome.exit == 0)
    }

    private func listing(_ folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).sorted()
    }

    @Test("--exclude and --skip-unreadable leave out parts of a folder, and each part that cannot be sent has its line")
    func leftOut() async throws {
        try await withTemporaryFolder { folder in
            try await makeProject(in: folder)
            let study = Host.loopback(folder + "/study")
            try await Host.loopback(folder + "/kitchen").withReceiver { running in
                let words = ["send", "project", "--to", running.address, "--exclude", ".git", "--exclude", "src/*.o"]
                let refused = try await study.run(arguments: words, in: folder)
                #expect(refused.exit == 66)
                #expect(refused.errors.contains("project/out") && refused.errors.contains("project/src/pipe"))
                let sent = try await study.run(arguments: words + ["--skip-unreadable"], in: folder)
                #expect(sent.exit == 0, "\(sent.errors)")
                let lines = sent.errors.split(separator: "\n")
                #expect(lines.count == 2 && lines.allSatisfy { $0.hasPrefix("left out: project/") }, "\(lines)")
                #expect(
                    try listing(running.inbox + "/project")
                        == ["empty", "in", "src", "src/b.c", "src/deep", "src/deep/d.c"])
                let events = try await study.run(arguments: words + ["--skip-unreadable", "--json"], in: folder).events
                #expect(events.filter { $0.event == "skipped" }.count == 2)
                #expect(events.last?.event == "done" && events.last?.exit == 0)
            }
        }
    }

    @Test("a named item is excluded too, and if nothing is left that is a failure")
    func items() async throws {
        try await withTemporaryFolder { folder in
            try await makeProject(in: folder)
            let study = Host.loopback(folder + "/study")
            try await Host.loopback(folder + "/kitchen").withReceiver { running in
                try "x".write(toFile: folder + "/a.txt", atomically: false, encoding: .utf8)
                try "x".write(toFile: folder + "/a.log", atomically: false, encoding: .utf8)
                let to = ["--to", running.address]
                let sent = try await study.run(
                    arguments: ["send", "a.txt", "a.log", "none", "--exclude", "*.log", "--skip-unreadable"] + to,
                    in: folder)
                #expect(sent.exit == 0 && sent.errors.hasPrefix("left out: none"), "\(sent.errors)")
                #expect(try running.names() == ["a.txt"])
                let excluded = try await study.run(
                    arguments: ["send", "a.log", "--exclude", "*.log"] + to, in: folder)
                #expect(excluded.exit == 64 && excluded.errors.contains("--exclude leaves out all of it"))
                let missing = try await study.run(arguments: ["send", "none", "--skip-unreadable"] + to, in: folder)
                #expect(missing.exit == 66, "\(missing.errors)")
            }
        }
    }

    @Test("--dry-run shows the items that would be sent, and asks no peer")
    func dryRun() async throws {
        try await withTemporaryFolder { folder in
            try await makeProject(in: folder)
            let study = Host.loopback(folder + "/study")
            let words = ["send", "project", "--to", "127.0.0.1:1", "--skip-unreadable", "--dry-run"]
            let shown = try await study.run(arguments: words, in: folder)
            #expect(shown.exit == 0)
            #expect(shown.output == "project  8 bytes, 9 things in it, folder\n", "\(shown.output)")
            let events = try await study.run(arguments: words + ["--json"], in: folder).events
            #expect(events.map(\.event) == ["skipped", "skipped", "item", "done"])
        }
    }
}
