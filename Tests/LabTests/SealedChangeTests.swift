import Foundation
import Subprocess
import SystemPackage
import Testing

/// `waft inbox protect` and `waft inbox unprotect`.
@Suite("Changing how an item is sealed", .serialized, .timeLimit(.minutes(3)))
struct SealedChangeTests {
    /// The calls that put the new form in the place of the old one.
    private static let calls = "renameat2,renameat,fsync,fdatasync,syncfs,unlinkat"
    private static let maximumSteps = 60

    /// A receiver with a file and a folder that came in clear, and what it needs to seal them.
    private func withKitchen(
        _ body: @escaping @Sendable (Host, RunningReceiver, _ file: String) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let kitchen = Host.loopback(folder + "/kitchen")
            try kitchen.setUpProtection("none")
            let file = folder + "/note.txt"
            try makeTree(folder + "/tree")
            try String(repeating: "hello\n", count: 30_000).write(toFile: file, atomically: false, encoding: .utf8)
            try await kitchen.withReceiver { running in
                let words = ["send", file, folder + "/tree", "--to", running.address]
                let sent = try await Host.loopback(folder + "/study").run(arguments: words)
                try #require(sent.exit == 0, "\(sent)")
                try await body(kitchen, running, file)
            }
        }
    }

    private func makeTree(_ path: String) throws {
        for folder in ["none", "Übung/größe", "deep/er"] {
            try FileManager.default.createDirectory(atPath: "\(path)/\(folder)", withIntermediateDirectories: true)
        }
        let texts = [
            "a": "first", "Übung/größe/中 文.txt": String(repeating: "hello\n", count: 30_000), "deep/er/empty": "",
        ]
        for (name, text) in texts {
            try text.write(toFile: "\(path)/\(name)", atomically: false, encoding: .utf8)
        }
    }

    /// Whether two folders hold the same names and contents.
    private func areEqual(_ one: String, _ other: String) async throws -> Bool {
        try await Host.loopback("/").run("/usr/bin/diff", ["-r", one, other]).exit == 0
    }

    private func inbox(_ kitchen: Host, _ words: String...) async throws -> ProgramResult {
        try await kitchen.run(arguments: ["inbox"] + words)
    }

    @Test("seals it in each class and opens it again; locked is 18, a changed item is 17")
    func changes() async throws {
        try await withKitchen { kitchen, running, file in
            #expect(try await inbox(kitchen, "protect", "note.txt", "unlessOpen").exit == 18)
            try await kitchen.unlock()
            for protection in ["unlessOpen", "complete", "untilFirstUnlock"] {
                let changed = try await inbox(kitchen, "protect", "note.txt", protection, "--json")
                #expect(changed.exit == 0 && changed.output.contains("\"protection\":\"\(protection)\""), "\(changed)")
                #expect(try running.names() == ["note.txt.age", "tree"] && running.staged() == [])
                #expect(try await kitchen.opens(running.inbox + "/note.txt.age", as: file))
                #expect(try await inbox(kitchen, "verify").exit == 0)
            }
            #expect(try await inbox(kitchen, "protect", "note.txt", "none").exit == 64)
            #expect(try await inbox(kitchen, "protect", "nothing", "complete").exit == 66)
            try await kitchen.lock(["--all"])
            #expect(try await inbox(kitchen, "unprotect", "note.txt").exit == 18)
            let taken = try await inbox(kitchen, "take", "note.txt", "/tmp")
            #expect(taken.exit == 18 && taken.errors.contains("unlock it with: waft unlock"), "\(taken)")
            try await kitchen.unlock()
            let opened = try await inbox(kitchen, "unprotect", "note.txt")
            #expect(opened.exit == 0 && opened.output.hasSuffix("open, not sealed\n"), "\(opened)")
            #expect(try running.names() == ["note.txt", "tree"])
            #expect(FileManager.default.contentsEqual(atPath: running.inbox + "/note.txt", andPath: file))
            #expect(try await inbox(kitchen, "verify").exit == 0)
            // Another item has the name of the sealed form.
            #expect(FileManager.default.createFile(atPath: running.inbox + "/note.txt.age", contents: Data("x".utf8)))
            #expect(try await inbox(kitchen, "protect", "note.txt", "complete").exit == 0)
            #expect(try running.names() == ["note-1.txt.age", "note.txt.age", "tree"])
            #expect(try await inbox(kitchen, "unprotect", "note-1.txt").exit == 0)
            chmod(running.inbox + "/note-1.txt", 0o644)
            try "changed".write(toFile: running.inbox + "/note-1.txt", atomically: false, encoding: .utf8)
            let changed = try await inbox(kitchen, "protect", "note-1.txt", "complete")
            #expect(changed.exit == 17, "\(changed)")
            #expect(try running.names() == ["note-1.txt", "note.txt.age", "tree"] && running.staged() == [])
        }
    }

    @Test("an item whose header was changed is 17 for each command that opens it")
    func changedHeader() async throws {
        try await withKitchen { kitchen, running, file in
            try await kitchen.unlock()
            for name in ["note.txt", "tree"] {
                #expect(try await inbox(kitchen, "protect", name, "complete").exit == 0)
            }
            for path in ["note.txt.age", "tree/a.age"].map({ running.inbox + "/" + $0 }) {
                var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
                let stanza = try #require(bytes.firstRange(of: Array("X25519 ".utf8)))
                bytes[stanza.upperBound + 3] ^= 2
                chmod(path, 0o644)
                try Data(bytes).write(to: URL(fileURLWithPath: path))
                chmod(path, 0o444)
            }
            let out = (file as NSString).deletingLastPathComponent + "/out"
            try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: false)
            for words in [
                ["cat", "note.txt"], ["take", "note.txt", out], ["take", "tree", out],
                ["unprotect", "note.txt"], ["protect", "tree", "unlessOpen"], ["preview", "note.txt"], ["verify"],
            ] {
                let outcome = try await kitchen.run(arguments: ["inbox"] + words)
                #expect(outcome.exit == 17, "\(words): \(outcome)")
            }
            #expect(try running.names() == ["note.txt.age", "tree"] && running.staged() == [])
        }
    }

    @Test("seals each file of a folder, and opens it again as it was; locked is 18, a changed folder is 17")
    func folder() async throws {
        try await withKitchen { kitchen, running, file in
            let origin = (file as NSString).deletingLastPathComponent + "/tree"
            let path = running.inbox + "/tree"
            #expect(try await inbox(kitchen, "protect", "tree", "unlessOpen").exit == 18)
            try await kitchen.unlock()
            for protection in ["unlessOpen", "complete"] {
                let changed = try await inbox(kitchen, "protect", "tree", protection, "--json")
                #expect(changed.exit == 0 && changed.output.contains("\"protection\":\"\(protection)\""), "\(changed)")
                #expect(try running.names() == ["note.txt", "tree"] && running.staged() == [])
                #expect(try await kitchen.opensTree(path, as: origin))
                #expect(try await inbox(kitchen, "verify").exit == 0)
            }
            #expect(try await inbox(kitchen, "list").output.contains("tree"))
            try await kitchen.lock(["--all"])
            #expect(try await inbox(kitchen, "verify", "tree").exit == 0)
            #expect(try await inbox(kitchen, "unprotect", "tree").exit == 18)
            try await kitchen.unlock()
            let opened = try await inbox(kitchen, "unprotect", "tree")
            #expect(opened.exit == 0 && opened.output.hasSuffix("open, not sealed\n"), "\(opened)")
            #expect(try await areEqual(path, origin))
            #expect(try await inbox(kitchen, "verify").exit == 0)
            // What is in the folder now did not arrive.
            try "mine".write(toFile: path + "/mine", atomically: false, encoding: .utf8)
            #expect(try await inbox(kitchen, "protect", "tree", "complete").exit == 17)
            unlink(path + "/mine")
            #expect(try await inbox(kitchen, "protect", "tree", "complete").exit == 0)
            let out = (file as NSString).deletingLastPathComponent + "/out"
            try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: true)
            #expect(try await inbox(kitchen, "take", "tree", out).exit == 0)
            #expect(try await areEqual(out + "/tree", origin))
            #expect(try running.names() == ["note.txt"])
        }
    }

    @Test(
        "leaves one whole item, which the journal finds, at whichever step the receiver is killed",
        arguments: [("note.txt", "1"), ("tree", "2")])
    func killed(name: String, number: String) async throws {
        try await withKitchen { kitchen, running, file in
            running.signal(.terminate)
            await running.log.ended()
            let origin = (file as NSString).deletingLastPathComponent + "/" + name
            var kills = 0
            for step in 1..<Self.maximumSteps {
                let wasKilled = try await kitchen.withReceiver { receiver in
                    try await kitchen.unlock()
                    let opened = try await inbox(kitchen, "unprotect", number)
                    #expect(opened.exit == 0, "\(opened)")
                    return try await kill(kitchen, receiver, number, at: step)
                }.result
                try await kitchen.withReceiver { receiver in
                    try await check(kitchen, receiver, origin, number, "after step \(step)")
                }
                guard wasKilled else { break }
                kills += 1
            }
            #expect(kills > 2, "killed \(kills) times")
            print("waft inbox protect \(name): killed at \(kills) steps")
        }
    }

    /// The item is there once, whole, sealed or not, and the journal knows it.
    private func check(
        _ kitchen: Host, _ receiver: RunningReceiver, _ origin: String, _ number: String, _ when: Comment
    ) async throws {
        try await kitchen.unlock()
        let name = (origin as NSString).lastPathComponent
        let names = try receiver.names().filter { $0.hasPrefix(name) }
        #expect(names.count == 1, when)
        #expect(try receiver.names().count == 2, when)
        #expect(try receiver.staged() == [], when)
        let verified = try await inbox(kitchen, "verify", number)
        #expect(verified.exit == 0, when)
        let path = receiver.inbox + "/" + (names.first ?? name)
        if name == "tree" {
            let isOpen = FileManager.default.fileExists(atPath: path + "/a")
            #expect(try await isOpen ? areEqual(path, origin) : kitchen.opensTree(path, as: origin), when)
        } else {
            let cat = try await inbox(kitchen, "cat", number)
            let contents = try String(contentsOfFile: origin, encoding: .utf8)
            #expect(cat.exit == 0 && cat.output == contents, when)
        }
    }

    /// Seals the item while a tracer kills the receiver at a call.
    /// - Returns: whether it was killed.
    private func kill(_ host: Host, _ receiver: RunningReceiver, _ number: String, at step: Int) async throws -> Bool {
        let words = [
            "-f", "-p", "\(receiver.process.value)", "-e", "trace=\(Self.calls)", "-e",
            "inject=\(Self.calls):signal=KILL:when=\(step)", "-o", "/dev/null",
        ]
        return try await Host.loopback("/").withProgram("/usr/bin/strace", words, signal: .kill) { tracer in
            try await tracer.transcript.says("attached")
            let changed = try await inbox(host, "protect", number, "unlessOpen")
            return changed.exit != 0
        }.result
    }
}
