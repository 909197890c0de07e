import Foundation
import Subprocess
import SystemPackage
import Testing

/// `waft inbox protect` and `waft inbox unprotect`.
@Suite("Changing how an item is sealed", .serialized, .timeLimit(.minutes(3)))
struct SealedChangeTests {
    /// The calls that put the new file in the place of the old one.
    private static let calls = "renameat2,renameat,fsync,fdatasync,unlinkat"
    private static let maximumSteps = 40

    /// A receiver with a file and a folder that came in clear, and what it needs to seal them.
    private func withKitchen(
        _ body: @escaping @Sendable (Host, RunningReceiver, _ file: String) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let kitchen = Host.loopback(folder + "/kitchen")
            try kitchen.setUpProtection("none")
            let file = folder + "/note.txt"
            try FileManager.default.createDirectory(atPath: folder + "/tree", withIntermediateDirectories: true)
            try String(repeating: "hello\n", count: 30_000).write(toFile: file, atomically: false, encoding: .utf8)
            try await kitchen.withReceiver { running in
                let words = ["send", file, folder + "/tree", "--to", running.address]
                let sent = try await Host.loopback(folder + "/study").run(arguments: words)
                try #require(sent.exit == 0, "\(sent)")
                try await body(kitchen, running, file)
            }
        }
    }

    private func inbox(_ kitchen: Host, _ words: String...) async throws -> ProgramResult {
        try await kitchen.run(arguments: ["inbox"] + words)
    }

    @Test("seals it in each class and opens it again; locked is 18, a folder is 64, a changed item is 17")
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
            let folder = try await inbox(kitchen, "protect", "tree", "complete")
            #expect(folder.exit == 64 && folder.errors.contains("it is a folder"), "\(folder)")
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

    @Test("leaves one whole item, which the journal finds, at whichever step the receiver is killed")
    func killed() async throws {
        try await withKitchen { kitchen, running, file in
            running.signal(.terminate)
            await running.log.ended()
            var kills = 0
            for step in 1..<Self.maximumSteps {
                let wasKilled = try await kitchen.withReceiver { receiver in
                    try await kitchen.unlock()
                    try await check(kitchen, receiver, file, "before step \(step)")
                    if try receiver.names().contains("note.txt.age") {
                        let opened = try await inbox(kitchen, "unprotect", "1")
                        #expect(opened.exit == 0, "\(opened)")
                    }
                    return try await kill(kitchen, receiver, at: step)
                }.result
                guard wasKilled else { break }
                kills += 1
            }
            #expect(kills > 2, "killed \(kills) times")
            print("waft inbox protect: killed at \(kills) steps")
        }
    }

    /// The item is there once, whole, and the journal knows it.
    private func check(_ kitchen: Host, _ receiver: RunningReceiver, _ file: String, _ when: Comment) async throws {
        let names = try receiver.names().filter { $0 != "tree" }
        #expect(names.count == 1, when)
        #expect(try receiver.staged() == [], when)
        let contents = try String(contentsOfFile: file, encoding: .utf8)
        let cat = try await inbox(kitchen, "cat", "1")
        #expect(cat.exit == 0 && cat.output == contents, when)
        let verified = try await inbox(kitchen, "verify", "1")
        #expect(verified.exit == 0, when)
    }

    /// Seals the item while a tracer kills the receiver at a call.
    /// - Returns: whether it was killed.
    private func kill(_ host: Host, _ receiver: RunningReceiver, at step: Int) async throws -> Bool {
        let words = [
            "-f", "-p", "\(receiver.process.value)", "-e", "trace=\(Self.calls)", "-e",
            "inject=\(Self.calls):signal=KILL:when=\(step)", "-o", "/dev/null",
        ]
        return try await Host.loopback("/").withProgram("/usr/bin/strace", words, signal: .kill) { tracer in
            try await tracer.transcript.says("attached")
            let changed = try await inbox(host, "protect", "1", "unlessOpen")
            return changed.exit != 0
        }.result
    }
}
