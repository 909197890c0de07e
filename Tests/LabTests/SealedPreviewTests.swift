import Foundation
import Testing

@Suite("A preview of a sealed item", .timeLimit(.minutes(2)))
struct SealedPreviewTests {
    @Test("takes the clear copy from no preview and no application, and leaves none, not even that of a killed one")
    func copies() async throws {
        try await withTemporaryFolder { folder in
            let shelf = try ApplicationShelf(folder, display: ":99")
            try shelf.host.setUpProtection()
            try await shelf.add("first", name: "First", shelf.noting("first"), types: "text/plain;")
            try "hello\n".write(toFile: folder + "/a.txt", atomically: false, encoding: .utf8)
            let study = Host.loopback(folder + "/study")
            try await shelf.host.withReceiver { running in
                let sent = try await study.run(arguments: ["send", folder + "/a.txt", "--to", running.address])
                #expect(sent.exit == 0, "\(sent)")
                try await shelf.host.unlock()
                let opened = try await shelf.waft("inbox", "open-in", "1", "First")
                #expect(opened.exit == 0, "\(opened)")
                let copy = try #require(await shelf.path(notedBy: "first"))
                // …/PROGRAM/NUMBER/a.txt
                let programs = URL(fileURLWithPath: copy).deletingLastPathComponent().deletingLastPathComponent()
                    .deletingLastPathComponent()
                // A preview that was killed. The kernel gives no process this number.
                let dead = programs.appending(path: "org.waft.documents-4194305/1")
                try FileManager.default.createDirectory(at: dead, withIntermediateDirectories: true)
                try Data("hello\n".utf8).write(to: dead.appending(path: "a.txt"))
                try await withThrowingTaskGroup(of: ProgramResult.self) { group in
                    for _ in 0..<6 { group.addTask { try await shelf.waft("inbox", "preview", "1") } }
                    for try await shown in group {
                        #expect(shown.exit == 0 && shown.output.hasSuffix("  hello\n"), "\(shown)")
                    }
                }
                #expect(FileManager.default.contents(atPath: copy) == Data("hello\n".utf8), "the application's copy")
                let left = try FileManager.default.contentsOfDirectory(atPath: programs.path)
                #expect(left.filter { $0.contains("documents") } == ["org.waft.documents"], "\(left)")
            }
        }
    }
}

extension ApplicationShelf {
    /// The path that an application wrote, which runs on its own.
    fileprivate func path(notedBy name: String) async throws -> String? {
        let file = folder + "/out/" + name
        let waited = try await host.run("/bin/sh", ["-c", "until [ -s \"$0\" ]; do sleep 0.02; done", file])
        #expect(waited.exit == 0)
        return noted(name)?.split(separator: "|").first.map(String.init)
    }
}
