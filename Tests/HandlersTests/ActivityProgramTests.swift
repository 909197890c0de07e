import Foundation
import HandlerCatalog
import HookSandbox
import Sharing
import TestSupport
import Testing
import UniformTypes

@testable import Handlers

@Suite("The program of an activity", .timeLimit(.minutes(1)))
struct ActivityProgramTests {
    private let hook = HookFolder()

    private func facts(_ path: String) -> SharedFacts {
        SharedFacts(file: path, name: "a.png", type: .png, kind: .file, size: 5)
    }

    private func program(_ body: String, files: [String] = []) -> ActivityProgram {
        ActivityProgram(hook.program(hook.script(body)), runner: hook.runner(), files: files)
    }

    @Test("gets the activity and the items as JSON, and names the items that it has made")
    func perform() async throws {
        let program = program(
            """
            cat >call; echo "$1 $# $WAFT_ACTIVITY $WAFT_ITEMS" >words; echo x >made.png; echo said >&2
            echo '{"returnedItems": ["made.png", "'"$PWD"'/made.png"]}'
            """)
        let end = try await program.perform("org.example.resize", [facts("/a/b c.png"), facts("/a/d.png")])
        #expect(end.outcome.answer == .yes && end.outcome.standardError == "said\n", "\(end)")
        let made = try #require(realpath(hook.folder / "made.png", nil))
        defer { free(made) }
        #expect(end.returnedItems == [String(cString: made), String(cString: made)] && end.remark == nil)
        #expect(hook.text("words") == "perform-activity 1 org.example.resize 2\n")
        let call = try hook.json("call")
        #expect(call["call"] as? String == "perform-activity" && call["activity"] as? String == "org.example.resize")
        #expect(call["url"] == nil)
        let items = try #require(call["items"] as? [[String: Any]])
        #expect(items.map { $0["file"] as? String } == ["/a/b c.png", "/a/d.png"])
        #expect(items[0]["url"] as? String == "file:///a/b%20c.png" && items[0]["type"] as? String == "public.png")
    }

    @Test("returns no items from outside its data folder, and none that are missing")
    func returned() async throws {
        let program = program(
            """
            ln -s /etc/passwd link
            echo '{"returnedItems": ["/etc/passwd", "../x", "link", "none", "."]}'
            """)
        let end = try await program.perform("org.a.b", [])
        #expect(end.outcome.answer == .yes && end.returnedItems == [])
        #expect(end.remark?.hasPrefix("5 of the items") == true)
    }

    @Test(
        "has no items to return without a document on its output, and none after a no",
        arguments: [("echo hello", AttemptOutcome.Answer.yes), ("echo '{\"returnedItems\": [\"hook\"]}'; exit 1", .no)])
    func nothing(body: String, answer: AttemptOutcome.Answer) async throws {
        let end = try await program(body).perform("org.a.b", [])
        #expect(end.outcome.answer == answer && end.returnedItems == [] && end.remark == nil)
    }

    @Test("can do it only if it says yes within two seconds")
    func can() async {
        #expect(await program(#"test "$1" = can-perform"#).can("org.a.b", []))
        #expect(await !program("exit 1").can("org.a.b", []))
        #expect(await !program("sleep 600").can("org.a.b", []))
    }

    @Test("reads the shared items in its sandbox, and no other file of the user")
    func sandbox() async throws {
        let home = TemporaryFolder()
        let (shared, other) = (home.file("shared", "yes"), home.file("other", "no"))
        let body = "cat '\(shared)' >read; cat '\(other)' >>read; true"
        let program = ActivityProgram(
            hook.program(hook.script(body), sandbox: .strict), runner: hook.runner(), files: [shared])
        _ = try await program.perform("org.a.b", [facts(shared)])
        #expect(hook.text("read") == "yes")
    }
}
