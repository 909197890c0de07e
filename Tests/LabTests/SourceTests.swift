import Foundation
import Testing

/// `waft send --source`, and the subject.
@Suite("Items that a program makes", .serialized, .timeLimit(.minutes(2)))
struct SourceTests {
    /// A program that writes its calls to `calls` beside it.
    private func program(_ folder: String, placeholder: String, item: String) throws -> String {
        try writeScript(
            """
            #!/bin/sh
            echo "$1 $WAFT_ACTIVITY ${WAFT_PEER_NAME-}" >>'\(folder)/calls'
            case $1 in placeholder) \(placeholder);; item) \(item);; esac
            """, to: folder + "/source")
        return folder + "/source"
    }

    private func calls(_ folder: String) throws -> [String] {
        try String(contentsOfFile: folder + "/calls", encoding: .utf8).split(separator: "\n").map(String.init)
    }

    @Test("an accepted item is made for its recipient, and its subject reaches the handler")
    func accepted() async throws {
        try await withTemporaryFolder { folder in
            let source = try program(
                folder, placeholder: #"echo '{"name": "report.txt", "type": "public.plain-text", "subject": "May"}'"#,
                item: #"echo "for $WAFT_PEER_NAME""#)
            var kitchen = Host.loopback(folder + "/kitchen")
            let hook = try kitchen.useHook("#!/bin/sh\necho \"$WAFT_SUBJECT\" >subject\n", in: folder)
            try await kitchen.withReceiver(Programs.waft, ["receive", "--accept", "everyone", "--name", "kitchen"]) {
                running in
                let sent = try await Host.loopback(folder + "/study").run(
                    arguments: ["send", "--source", source, "--to", running.address, "--wait", "opened"])
                #expect(sent.exit == 0, "\(sent)")
                let text = try String(contentsOfFile: running.inbox + "/report.txt", encoding: .utf8)
                #expect(text == "for kitchen\n")
                #expect(try String(contentsOfFile: hook + "/subject", encoding: .utf8) == "May\n")
            }
            #expect(
                try calls(folder) == [
                    "placeholder org.waft.activity.airdrop ", "item org.waft.activity.airdrop kitchen",
                ])
        }
    }

    @Test(
        "an item that is not accepted is never made",
        arguments: [(["--accept", "none"], 12), (["--accept", "everyone"], 14)])
    func notAccepted(rule: [String], exit: Int) async throws {
        try await withTemporaryFolder { folder in
            // The second receiver has no room for it.
            let source = try program(
                folder, placeholder: #"echo '{"name": "a", "size": 1000000000000000}'"#, item: "echo x")
            try await Host.loopback(folder + "/kitchen").withReceiver(Programs.waft, ["receive"] + rule) { running in
                let sent = try await Host.loopback(folder + "/study").run(
                    arguments: ["send", "--source", source, "--to", running.address, "--timeout", "2"])
                #expect(sent.exit == exit, "\(sent)")
            }
            #expect(try calls(folder) == ["placeholder org.waft.activity.airdrop "])
        }
    }

    @Test("nothing of an item is stored whose program fails, or makes another number of bytes than it said")
    func failing() async throws {
        try await withTemporaryFolder { folder in
            try await Host.loopback(folder + "/kitchen").withReceiver { running in
                for (item, exit) in [("echo x; exit 3", 66), ("echo x", 17), ("echo 123456", 17)] {
                    let source = try program(folder, placeholder: #"echo '{"name": "a", "size": 5}'"#, item: item)
                    let sent = try await Host.loopback(folder + "/study").run(
                        arguments: ["send", "--source", source, "--to", running.address])
                    #expect(sent.exit == exit && sent.errors.contains("source:"), "\(item): \(sent)")
                    #expect(try running.names() == [])
                    if exit == 66 { #expect(try running.kept() == [], "\(item)") }
                }
            }
        }
    }

    @Test("a program with nothing to share is left out, and alone is 66; one that makes its item once has one peer")
    func words() async throws {
        try await withTemporaryFolder { folder in
            let study = Host.loopback(folder + "/study")
            let none = try program(folder, placeholder: "exit 1", item: "")
            let alone = try await study.run(arguments: ["send", "--source", none, "--to", "x"])
            #expect(alone.exit == 66 && alone.errors.contains("has nothing to share"), "\(alone)")
            let both = try await study.run(
                arguments: ["send", "--text", "x", "--source", none, "--to", "x", "--dry-run"])
            #expect(both.exit == 0 && both.errors.contains("left out: ") && both.output.contains("x.txt"), "\(both)")
            let once = try program(folder, placeholder: #"echo '{"name": "a"}'"#, item: "")
            let two = try await study.run(arguments: ["send", "--source", once, "--to", "x", "--to", "y"])
            #expect(two.exit == 64 && two.errors.contains("makes its item once only"), "\(two)")
            let named = try await study.run(arguments: ["send", "--source", once, "--name", "b", "--to", "x"])
            #expect(named.exit == 64 && named.errors.contains("do not go with --source"), "\(named)")
            let long = try await study.run(
                arguments: ["send", "--text", "x", "--subject", String(repeating: "x", count: 1_025), "--to", "x"])
            #expect(long.exit == 64 && long.errors.contains("--subject is one line of at most 1024 bytes"), "\(long)")
        }
    }

    @Test("a queued item is made at once, and its copy is sent")
    func queued() async throws {
        try await withTemporaryFolder { folder in
            let study = Host.loopback(folder + "/study")
            let source = try program(folder, placeholder: #"echo '{"name": "a"}'"#, item: "echo x")
            let sent = try await study.run(arguments: ["send", "--source", source, "--to", "x", "--queue"])
            #expect(sent.exit == 0, "\(sent)")
            #expect(
                try calls(folder) == ["placeholder org.waft.activity.queue ", "item org.waft.activity.queue "])
        }
    }

    @Test("a folder that a program makes is copied into the outbox, and arrives whole")
    func queuedFolder() async throws {
        try await withTemporaryFolder { folder in
            let (kitchen, study) = (Host.loopback(folder + "/kitchen"), Host.loopback(folder + "/study"))
            let trip = folder + "/trip"
            try FileManager.default.createDirectory(atPath: trip + "/deep/empty", withIntermediateDirectories: true)
            try "a".write(toFile: trip + "/deep/größe.txt", atomically: false, encoding: .utf8)
            try FileManager.default.createSymbolicLink(atPath: trip + "/link", withDestinationPath: "deep/größe.txt")
            let source = try program(
                folder, placeholder: #"echo '{"name": "trip", "kind": "tree", "size": 1, "entries": 5}'"#,
                item: "tar -C '\(trip)' -c .")
            try await kitchen.withReceiver { running in
                let queued = try await study.run(
                    arguments: ["send", "--source", source, "--to", running.address, "--queue"])
                #expect(queued.exit == 0, "\(queued)")
                // The copy is sent, and not what the program would make now.
                try FileManager.default.removeItem(atPath: source)
                try await study.withReceiver(Programs.waftd, []) { daemon in
                    _ = try await running.log.first("stored")
                    // The receiver stores a moment before the outbox has its receipt.
                    try await daemon.log.error(containing: "state=done")
                }
                let arrived = try await kitchen.run("/usr/bin/diff", ["-r", trip, running.inbox + "/trip"])
                #expect(arrived.exit == 0, "\(arrived)")
            }
            // A folder that is not whole is not queued.
            let broken = try program(
                folder, placeholder: #"echo '{"name": "trip", "kind": "tree", "size": 1, "entries": 5}'"#,
                item: "tar -C '\(trip)' -c . | head -c 1024")
            let refused = try await study.run(arguments: ["send", "--source", broken, "--to", "x", "--queue"])
            #expect(refused.exit != 0, "\(refused)")
            let jobs = try await study.run(arguments: ["outbox", "list"])
            #expect(jobs.output.isEmpty, "\(jobs)")
        }
    }

    /// Archives that would leave their folder by a link, and the words of their refusal.
    private static let hostile = [
        ("file('../../up')", "the name is . or .."),
        ("link('a', '/tmp'), file('a/pwned')", "the path is absolute"),
        ("link('a', '../..'), file('a/pwned')", "leads out of its folder"),
        ("folder('p'), link('a', 'p'), file('a/pwned')", "before its folder"),
        ("folder('p'), link('a', 'p'), folder('a'), file('a/pwned')", "File exists"),
    ]

    @Test("an archive that leaves its folder by names or links writes nothing, and nothing waits", arguments: hostile)
    func hostileArchive(_ steps: String, _ reason: String) async throws {
        try await withTemporaryFolder { folder in
            let study = Host.loopback(folder + "/study")
            let archive = """
                import io, sys, tarfile
                tar = tarfile.open(fileobj=sys.stdout.buffer, mode="w|")
                def add(name, kind, target="", data=b""):
                    entry = tarfile.TarInfo("./" + name)
                    entry.type, entry.linkname, entry.size = kind, target, len(data)
                    tar.addfile(entry, io.BytesIO(data))
                folder = lambda name: add(name, tarfile.DIRTYPE)
                link = lambda name, target: add(name, tarfile.SYMTYPE, target)
                file = lambda name: add(name, tarfile.REGTYPE, data=b"x")
                \(steps)
                tar.close()
                """
            try archive.write(toFile: folder + "/archive.py", atomically: false, encoding: .utf8)
            let source = try program(
                folder, placeholder: #"echo '{"name": "trip", "kind": "tree", "size": 1, "entries": 5}'"#,
                item: "python3 '\(folder)/archive.py'")
            let refused = try await study.run(arguments: ["send", "--source", source, "--to", "x", "--queue"])
            #expect(refused.exit != 0 && refused.errors.contains(reason), "\(refused)")
            let found = try await study.run("/usr/bin/find", [folder, "-name", "pwned", "-o", "-name", "up"])
            #expect(found.output.isEmpty, "\(found)")
            let jobs = try await study.run(arguments: ["outbox", "list", "--all"])
            #expect(jobs.output.isEmpty, "\(jobs)")
        }
    }
}
