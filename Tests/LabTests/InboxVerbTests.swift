import Foundation
import Glibc
import Subprocess
import Testing

/// The verbs for arrived items, with the real programs.
@Suite("The Inbox's verbs", .serialized)
struct InboxVerbTests {
    private struct Kitchen: Sendable {
        let folder: String
        var host: Host
        let study: Host

        init(_ folder: String) throws {
            self.folder = folder
            host = .loopback(folder + "/kitchen")
            var study = Host.loopback(folder + "/study")
            study.environment["WAFT_NAME"] = "study"
            self.study = study
            for name in ["sources", "out"] {
                try FileManager.default.createDirectory(
                    atPath: folder + "/" + name, withIntermediateDirectories: true)
            }
        }

        func write(_ files: [String: String]) throws {
            for (name, text) in files {
                let path = URL(fileURLWithPath: folder + "/sources/" + name)
                try FileManager.default.createDirectory(
                    at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data(text.utf8).write(to: path)
            }
        }

        func send(_ names: [String], to running: RunningReceiver) async throws -> ProgramResult {
            try await study.run(arguments: ["send"] + names + ["--to", running.address], in: folder + "/sources")
        }

        func inbox(_ words: String...) async throws -> ProgramResult {
            try await host.run(arguments: ["inbox"] + words)
        }
    }

    private func withKitchen(_ body: @escaping @Sendable (Kitchen) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in try await body(Kitchen(folder)) }
    }

    private static let files = ["a.txt": "hello\n", "tree/a": "1\n", "tree/b/c": "2\n", "b.txt": "x\n", "c.txt": "y\n"]

    @Test("a removal of five items opens settings and journal once, and connects to the receiver once")
    func removesByOneReading() async throws {
        try await withKitchen { kitchen in
            let names = (1...5).map { "item-\($0).txt" }
            try kitchen.write(Dictionary(uniqueKeysWithValues: names.map { ($0, $0) }))
            try await kitchen.host.withReceiver { running in
                #expect(try await kitchen.send(names, to: running).exit == 0)
                let log = kitchen.folder + "/calls"
                let removal = try await kitchen.host.run(
                    "/usr/bin/strace",
                    ["-f", "-qq", "-e", "trace=openat,connect", "-o", log, Programs.waft, "inbox", "remove"] + names)
                #expect(removal.exit == 0, "\(removal.errors)")
                #expect(try running.names() == [])
                let calls = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
                for file in ["/config.yaml\"", "/run/control\"", "/journal.sqlite\""] {
                    #expect(calls.count { $0.contains(file) } == 1, "\(file)")
                }
            }
        }
    }

    @Test("an item that a handler moved out is no finding, and its remains are")
    func handlers() async throws {
        try await withKitchen { kitchen in
            var kitchen = kitchen
            let place = try kitchen.host.useHook(
                "#!/bin/sh\ncase \"$WAFT_NAME\" in a*) mv \"$WAFT_FILE\" .;; esac\n", in: kitchen.folder)
            try kitchen.write(Self.files)
            let those = kitchen
            try await those.host.withReceiver { running in
                #expect(try await those.send(["a.txt", "b.txt"], to: running).exit == 0)
                for name in ["a.txt", "b.txt"] { _ = try await running.log.first("opened") { $0.stored == name } }
            }
            #expect(FileManager.default.fileExists(atPath: place + "/a.txt"))
            #expect(try await those.inbox("verify").output == "1 ok\n")
            let shown = try await those.inbox("show", "1").output
            #expect(shown.contains("gone after") && shown.contains("was asked"), "\(shown)")
            unlink("\(those.host.home)/Documents/Inbox/b.txt")
            #expect(try await those.inbox("verify").exit == 17)
        }
    }

    @Test("an item that a handler still reads stays, with exit code 15 and the handler's name; --now takes it")
    func readers() async throws {
        try await withKitchen { kitchen in
            let out = kitchen.folder + "/out"
            try writeScript(
                "#!/bin/sh\necho > '\(out)'/begun-$WAFT_NAME\nwhile [ ! -e '\(out)'/go ]; do sleep 0.05; done\n",
                to: kitchen.folder + "/slow.sh")
            let words = ["--name", "Slow", "--type", "public.plain-text", "--run", kitchen.folder + "/slow.sh"]
            let added = try await kitchen.host.run(arguments: ["handlers", "add", "--writable", out] + words)
            try #require(added.exit == 0, "\(added)")
            try kitchen.write(Self.files)
            try await kitchen.host.withReceiver { running in
                #expect(try await kitchen.send(["a.txt", "b.txt"], to: running).exit == 0)
                while !FileManager.default.fileExists(atPath: out + "/begun-a.txt") {
                    try await Task.sleep(for: .milliseconds(20))
                }
                let refused = try await kitchen.inbox("remove", "a.txt")
                #expect(refused.exit == 15)
                let line = /waft: 1  a\.txt: Slow is reading it \(\d+ s\); --now does it anyway\n/
                #expect(refused.errors.wholeMatch(of: line) != nil, "\(refused)")
                #expect(try running.names() == ["a.txt", "b.txt"])
                // No handler has it yet, and none gets it.
                #expect(try await kitchen.inbox("take", "b.txt", out).output == "2  b.txt: → \(out)/b.txt\n")
                #expect(try await kitchen.inbox("take", "a.txt", out, "--now").exit == 0)
                #expect(try await kitchen.send(["c.txt"], to: running).exit == 0)
                #expect(FileManager.default.createFile(atPath: out + "/go", contents: nil))
                _ = try await running.log.first("opened") { $0.stored == "a.txt" }
                #expect(try await kitchen.inbox("remove", "c.txt").exit == 0)
                #expect(!FileManager.default.fileExists(atPath: out + "/begun-b.txt"))
            }
            let shown = try await kitchen.inbox("show", "1").output
            #expect(shown.contains("taken to \(out)/a.txt") && shown.contains("opened"), "\(shown)")
        }
    }

    @Test("list and history show the items that the filters select")
    func filters() async throws {
        try await withKitchen { kitchen in
            var kitchen = kitchen
            _ = try kitchen.host.useHook(
                "#!/bin/sh\ncase $WAFT_NAME in b*) exit 3 ;; *) exit 75 ;; esac\n", in: kitchen.folder)
            let those = kitchen
            try those.write(Self.files)
            try await those.host.withReceiver { running in
                #expect(try await those.send(["a.txt", "b.txt", "tree"], to: running).exit == 0)
                _ = try await running.log.first("failed") { $0.stored == "b.txt" }
                _ = try await running.log.first("deferred") { $0.stored == "tree" }
                #expect(FileManager.default.createFile(atPath: running.inbox + "/mine.txt", contents: Data("x".utf8)))
                let all = try await those.inbox("list").output
                #expect(all.hasSuffix("\n4 items, 13 bytes\n"), "\(all)")
                for verb in [["inbox", "list"], ["history"]] {
                    func names(_ filter: String...) async throws -> [String] {
                        let outcome = try await those.host.run(arguments: verb + filter + ["--json"])
                        #expect(outcome.exit == 0, "\(outcome)")
                        struct Line: Decodable { var stored: String }
                        return try outcome.output.split(separator: "\n").map { line in
                            try JSONDecoder().decode(Line.self, from: Data(line.utf8)).stored
                        }
                    }
                    #expect(try await names("--type", "public.data") == ["a.txt", "b.txt"], "conformance counts")
                    #expect(try await names("--type", "public.folder") == ["tree"])
                    #expect(try await names("--state", "failed") == ["b.txt"])
                    #expect(try await names("--state", "deferred") == ["a.txt", "tree"])
                    #expect(try await names("--from", "STUDY", "--since", "2d", "--type", "public.item").count == 3)
                }
            }
        }
    }

    @Test(
        "list --watch has a line for each arrival, each handler's answer and each departure, and ends with 0 on Ctrl-C")
    func watch() async throws {
        try await withKitchen { kitchen in
            var kitchen = kitchen
            _ = try kitchen.host.useHook("#!/bin/sh\nexit 3\n", in: kitchen.folder)
            let those = kitchen
            try those.write(Self.files)
            try await those.host.withReceiver { running in
                let words = ["inbox", "list", "--watch", "--json", "--type", "public.text"]
                let watched = try await those.host.withProgram(Programs.waft, words, signal: .interrupt) { program in
                    try await program.transcript.says(#""event":"ready""#)
                    #expect(try await those.send(["tree", "a.txt"], to: running).exit == 0)
                    try await program.transcript.says(#""event":"failed""#)
                    #expect(try await those.inbox("remove", "tree", "a.txt").exit == 0)
                    try await program.transcript.says(#""event":"removed""#)
                }
                #expect(watched.exit == 0)
                let events = watched.text.split(separator: "\n").compactMap { Event(line: String($0)) }
                #expect(events.map(\.event) == ["ready", "stored", "failed", "removed"], "\(watched.text)")
                #expect(events.dropFirst().allSatisfy { $0.stored == "a.txt" && $0.from?.name == "study" })
            }
            #expect(try await those.inbox("list", "--watch").exit == 69)
            #expect(try await those.inbox("list", "--watch", "--since", "2d").exit == 64)
        }
    }

    @Test("take moves to another disk and never replaces anything")
    func take() async throws {
        try await withKitchen { kitchen in
            try kitchen.write(Self.files)
            let disk = kitchen.folder + "/out"
            try #require(mount("none", disk, "tmpfs", 0, "size=4m") == 0, "mounting needs root")
            defer { umount2(disk, Int32(MNT_DETACH)) }
            try Data("mine".utf8).write(to: URL(fileURLWithPath: disk + "/a.txt"))
            try await kitchen.host.withReceiver { running in
                #expect(try await kitchen.send(["a.txt", "tree"], to: running).exit == 0)
                let refused = try await kitchen.inbox("take", "1", disk, "--name", "a.txt")
                #expect(refused.exit == 64 && refused.errors.contains("a.txt exists there already"))
                #expect(try running.names() == ["a.txt", "tree"])
                let taken = try await kitchen.inbox("take", "a.txt", "tree", disk)
                #expect(taken.exit == 0, "\(taken)")
                #expect(taken.output == "1  a.txt: → \(disk)/a-1.txt\n2  tree: → \(disk)/tree\n")
                #expect(try running.names() == [])
                #expect(try await kitchen.inbox("take", "1", disk).exit == 66)
                #expect(try await kitchen.inbox("take", "1", "2", disk + "/none").exit == 66)
            }
            #expect(try String(contentsOfFile: disk + "/a.txt", encoding: .utf8) == "mine")
            #expect(try String(contentsOfFile: disk + "/tree/b/c", encoding: .utf8) == "2\n")
            #expect(try mode(of: disk + "/tree/b/c") == 0o666 & ~umaskOfTests)
        }
    }

    @Test("take to a disk that fails to write the new name leaves the item in the Inbox as well")
    func takeToFailingDisk() async throws {
        try await withKitchen { kitchen in
            try kitchen.write(Self.files)
            let disk = kitchen.folder + "/out"
            try #require(mount("none", disk, "tmpfs", 0, "size=4m") == 0, "mounting needs root")
            defer { umount2(disk, Int32(MNT_DETACH)) }
            try await kitchen.host.withReceiver { running in
                #expect(try await kitchen.send(["a.txt"], to: running).exit == 0)
                let fault = ["-P", disk, "-e", "trace=fsync", "-e", "inject=fsync:error=EIO"]
                let taken = try await kitchen.host.run(
                    "/usr/bin/strace",
                    ["-f", "-o", "/dev/null"] + fault + [Programs.waft, "inbox", "take", "1", disk])
                #expect(taken.exit == 1 && taken.errors.contains("stays in the Inbox"), "\(taken)")
                #expect(try running.names() == ["a.txt"])
                #expect(FileManager.default.fileExists(atPath: disk + "/a.txt"))
                #expect(try await kitchen.inbox("verify").exit == 0)
            }
        }
    }

    @Test("an item whose name the disk failed to keep is once in the Inbox after the next attempt")
    func receiveOnFailingDisk() async throws {
        try await withKitchen { kitchen in
            try kitchen.write(["a.txt": "hello\n", "tree/b": "2\n"])
            // The mark of the Inbox is made first.
            let inbox = try await kitchen.host.withReceiver { $0.inbox }.result
            var failing = kitchen.host
            failing.prefix = [
                "/usr/bin/strace", "-D", "-f", "-qqq", "-o", "/dev/null", "-P", inbox, "-e", "trace=fsync", "-e",
                "inject=fsync:error=EIO",
            ]
            let words = ["send", kitchen.folder + "/sources/a.txt", kitchen.folder + "/sources/tree", "--to"]
            try await failing.withReceiver { running in
                try await kitchen.study.withProgram(
                    Programs.waft, words + [running.address], signal: .interrupt
                ) { sending in
                    try await sending.transcript.says("cannot sync the Inbox")
                }
            }
            try await kitchen.host.withReceiver { running in
                let sent = try await kitchen.send(["a.txt", "tree"], to: running)
                #expect(sent.exit == 0, "\(sent)")
                #expect(try running.names() == ["a.txt", "tree"])
                #expect(try await kitchen.inbox("verify").exit == 0)
            }
        }
    }

    @Test("with --conflict skip an existing item is not taken, and the rest is")
    func conflicts() async throws {
        try await withKitchen { kitchen in
            try kitchen.write(Self.files)
            let words = ["receive", "--accept", "everyone", "--conflict", "skip"]
            try await kitchen.host.withReceiver(Programs.waft, words) { running in
                #expect(try await kitchen.send(["a.txt"], to: running).exit == 0)
                try kitchen.write(["a.txt": "another\n"])
                let second = try await kitchen.send(["a.txt", "b.txt"], to: running)
                #expect(second.exit == 12)
                #expect(
                    (second.output + second.errors).contains("the name exists already"), "\(second)")
                #expect(try running.names() == ["a.txt", "b.txt"])
                #expect(try String(contentsOfFile: running.inbox + "/a.txt", encoding: .utf8) == "hello\n")
            }
        }
    }

    @Test("a stranger fills its quota and no more, until an item is taken out")
    func quota() async throws {
        try await withKitchen { kitchen in
            var kitchen = kitchen
            kitchen.host.environment["WAFT_STRANGER_QUOTA"] = "40 kB"
            let those = kitchen
            try those.write(["one": String(repeating: "1", count: 6_000), "two": String(repeating: "2", count: 6_000)])
            try await those.host.withReceiver { running in
                #expect(try await those.send(["one"], to: running).exit == 0)
                let full = try await those.send(["two"], to: running)
                #expect(full.exit == 14)
                #expect(
                    (full.output + full.errors).contains(
                        "the limit for one stranger is 40.0 kB, where each file and folder counts for 16.4 kB more; "
                            + "22.4 kB stored from you; 22.4 kB offered"), "\(full)")
                #expect(try await those.inbox("take", "one", those.folder + "/out").exit == 0)
                #expect(try await those.send(["two"], to: running).exit == 0)
                unlink(running.inbox + "/two")
                #expect(try await those.send(["one"], to: running).exit == 0, "what was deleted by hand counts no more")
            }
        }
    }

    @Test("more files than the Inbox's disk has inodes are refused before anything moves, and nothing of them is left")
    func inodes() async throws {
        try await withKitchen { kitchen in
            try kitchen.write(Self.files)
            let many = kitchen.folder + "/many"
            try FileManager.default.createDirectory(atPath: many, withIntermediateDirectories: true)
            for number in 0..<600 {
                #expect(FileManager.default.createFile(atPath: "\(many)/\(number)", contents: nil))
            }
            let disk = kitchen.host.home + "/Documents"
            try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
            try #require(mount("none", disk, "tmpfs", 0, "size=8m,nr_inodes=500") == 0, "mounting needs root")
            defer { while umount2(disk, Int32(MNT_DETACH)) == 0 {} }
            try await kitchen.host.withReceiver { running in
                let refused = try await kitchen.send([many], to: running)
                #expect(refused.exit == 14)
                let line = "no free inodes: 601 files and folders offered, room for 4"
                #expect((refused.output + refused.errors).contains(line), "\(refused)")
                #expect(try running.names() == [] && running.staged() == [] && running.kept() == [])
                #expect(try await kitchen.send(["a.txt"], to: running).exit == 0)
            }
        }
    }

    @Test("an Inbox whose disk is read-only or gone is reported to the sender and the user")
    func disks() async throws {
        try await withKitchen { kitchen in
            try kitchen.write(Self.files)
            let disk = kitchen.host.home + "/Documents"
            try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
            try #require(mount("none", disk, "tmpfs", 0, "size=8m") == 0, "mounting needs root")
            defer { while umount2(disk, Int32(MNT_DETACH)) == 0 {} }
            try await kitchen.host.withReceiver { running in
                #expect(try await kitchen.send(["a.txt"], to: running).exit == 0)
                try #require(mount("none", disk, nil, UInt(MS_REMOUNT) | UInt(MS_RDONLY), nil) == 0)
                let sealed = try await kitchen.send(["b.txt"], to: running)
                let line = "the Inbox cannot be used: its file system is read-only"
                #expect(sealed.exit == 14)
                #expect((sealed.output + sealed.errors).contains(line), "\(sealed)")
                #expect(try await kitchen.host.run(arguments: ["status"]).output.contains(line))
                try #require(mount("none", disk, nil, UInt(MS_REMOUNT), nil) == 0)
                #expect(try await kitchen.send(["b.txt"], to: running).exit == 0)
                try #require(umount2(disk, Int32(MNT_DETACH)) == 0)
                let gone = try await kitchen.send(["c.txt"], to: running)
                #expect(gone.exit == 14)
                #expect((gone.output + gone.errors).contains("the Inbox is not the known one"), "\(gone)")
            }
            // No Inbox was made in place of the disk, so there is nothing to verify.
            #expect(try await kitchen.inbox("verify").exit == 66)
        }
    }

    @Test("a receiver that starts before the disk of its Inbox is mounted stores nothing on the bare folder")
    func mountedLate() async throws {
        try await withKitchen { kitchen in
            try kitchen.write(Self.files)
            let (disk, kept) = (kitchen.host.home + "/Documents", kitchen.folder + "/disk")
            for place in [disk, kept] {
                try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
            }
            try #require(mount("none", kept, "tmpfs", 0, "size=8m") == 0, "mounting needs root")
            defer { umount2(kept, Int32(MNT_DETACH)) }
            try #require(mount(kept, disk, nil, UInt(MS_BIND), nil) == 0)
            defer { while umount2(disk, Int32(MNT_DETACH)) == 0 {} }
            try await kitchen.host.withReceiver { running in
                let sent = try await kitchen.send(["a.txt"], to: running)
                #expect(sent.exit == 0)
            }
            try #require(umount2(disk, Int32(MNT_DETACH)) == 0)
            try await kitchen.host.withReceiver { running in
                let refused = try await kitchen.send(["b.txt"], to: running)
                #expect(refused.exit == 14)
                #expect(
                    (refused.output + refused.errors).contains("the Inbox is not the known one; is its disk mounted?"),
                    "\(refused)")
                #expect(try await kitchen.host.run(arguments: ["status"]).output.contains("waft inbox adopt"))
                #expect(try FileManager.default.contentsOfDirectory(atPath: disk) == [])
                try #require(mount(kept, disk, nil, UInt(MS_BIND), nil) == 0)
                #expect(try await kitchen.send(["b.txt"], to: running).exit == 0)
                #expect(try running.names() == ["a.txt", "b.txt"])
                // The user adopts another folder.
                try #require(umount2(disk, Int32(MNT_DETACH)) == 0)
                #expect(try await kitchen.send(["c.txt"], to: running).exit == 14)
                #expect(try await kitchen.inbox("adopt").exit == 0)
                #expect(try await kitchen.send(["c.txt"], to: running).exit == 0)
                #expect(try running.names() == ["c.txt"])
            }
            try #require(mount(kept, disk, nil, UInt(MS_BIND), nil) == 0)
            // The user adopts the disk again, without a receiver.
            #expect(try await kitchen.inbox("adopt").exit == 0)
            try await kitchen.host.withReceiver { running in
                let sent = try await kitchen.send(["c.txt"], to: running)
                #expect(sent.exit == 0)
            }
        }
    }
}
