import ArgumentParser
import Executors
import Foundation
import HandlerCatalog
import Handlers
import Lines
import Logging
import Sharing
import TestSupport
import Testing

@testable import Commands

@Suite("waft open")
struct OpenCommandTests {
    private let shelf = HandlerShelf()

    /// Installs a handler whose program is a script. It is not restricted, since the tests contain no launcher.
    private func write(_ name: String, _ scheme: String, _ script: String, _ more: [String: Any] = [:]) throws {
        let keys = [
            "CFBundleName": name, "CFBundleURLTypes": [["CFBundleURLSchemes": [scheme]]], "WaftSandbox": "none",
        ].merging(more) { $1 }
        let path = try shelf.write(name, HandlerShelf.keys("org.example.\(name.lowercased())", [], keys))
        TemporaryFolder.writeProgram(path + "/run", "#!/bin/sh\n\(script)\n")
    }

    private func opening(timeLimit: Duration = .seconds(60), searchPath: String = "/not/there") -> URLOpening {
        URLOpening(
            snapshot: shelf.place.catalog.load(),
            runner: HandlerRunner(
                inbox: shelf.inbox, scratchFolder: shelf.folder / "scratch", logger: Logger(label: "test")),
            timeLimit: timeLimit,
            requiresSandbox: false,
            opener: SystemOpener(searchPath: searchPath)
        )
    }

    private func open(_ text: String, _ opening: URLOpening? = nil) async throws -> URLResult {
        let url = try OpenCommand.parts(text)
        return try await (opening ?? self.opening()).open(url)
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: shelf.folder / name, encoding: .utf8)
    }

    @Test("the handler of the scheme is started with the URL as it is, and with its parts on standard input")
    func yes() async throws {
        try write(
            "Yes", "foo",
            "printf '%s|' \"$@\" > '\(shelf.folder.path)/args'; cat > '\(shelf.folder.path)/json'; printf %s \"$WAFT_URL\""
        )
        let outcome = try await open("foo://a/b?c='$(id)'#;d")
        #expect(outcome.exit == .done)
        #expect(outcome.text == "foo://a/b?c='$(id)'#;d: opened by Yes")
        #expect(try text("args") == "open-url|foo://a/b?c='$(id)'#;d|")
        #expect(try text("json").contains(#""query":"c='$(id)'""#))
        let line = outcome.event.text
        #expect(line.contains(#""event":"opened""#))
        holdContract([line])
        #expect(outcome.attempts.last?.identifier == "org.example.yes")
    }

    @Test("after a no the next handler is asked, in the order of the catalog")
    func next() async throws {
        try write("A", "foo", "echo A >> '\(shelf.folder.path)/log'; exit 1")
        try write("B", "foo", "echo B >> '\(shelf.folder.path)/log'; exit 0")
        try write("C", "foo", "echo C >> '\(shelf.folder.path)/log'; exit 0")
        _ = try shelf.run("default", "foo:", "A")
        let outcome = try await open("foo:x")
        #expect(outcome.exit == .done)
        #expect(outcome.attempts.map(\.name) == ["A", "B"])
        #expect(try text("log") == "A\nB\n")
    }

    @Test("all that say no are named, and the exit code is 16")
    func no() async throws {
        try write("A", "foo", "exit 1")
        try write("B", "foo", "exit 1")
        let outcome = try await open("foo:x")
        #expect(outcome.exit == .handlerSaidNo)
        #expect(outcome.text == "foo:x: A, B said no")
        #expect(outcome.attempts.map(\.outcome.answer) == [.no, .no])
    }

    @Test("a failure and a later end it with exit code 16, and the handler's output is shown, escaped")
    func failures() async throws {
        try write("Bad", "bad", "printf 'oh\\033[31m no\\n' >&2; exit 3")
        try write("Other", "bad", "exit 0")
        try write("Later", "later", "exit 75")
        _ = try shelf.run("default", "bad:", "Bad")
        let bad = try await open("bad:x")
        #expect(bad.exit == .handlerSaidNo)
        #expect(bad.text == "bad:x: Bad failed: exit code 3")
        #expect(bad.details == ["oh\\u{1B}[31m no"])
        #expect(bad.attempts.count == 1)
        let later = try await open("later:x")
        #expect(later.exit == .handlerSaidNo)
        #expect(later.text.contains("Later does not open it now"))
    }

    @Test("a handler that exceeds its time limit is ended")
    func slow() async throws {
        try write("Slow", "foo", "exec sleep 600")
        let outcome = try await open("foo:x", opening(timeLimit: .milliseconds(200)))
        #expect(outcome.exit == .handlerSaidNo)
        #expect(outcome.text.contains("out of time"))
    }

    @Test("both launch calls must say yes")
    func launchCalls() async throws {
        let calls = ["WaftLaunchCalls": ["will-finish-launching", "did-finish-launching"]]
        try write("A", "foo", "echo $1 >> '\(shelf.folder.path)/log'; [ $1 != did-finish-launching ]", calls)
        let outcome = try await open("foo:x")
        #expect(outcome.exit == .handlerSaidNo)
        #expect(try text("log") == "will-finish-launching\ndid-finish-launching\n")
    }

    @Test("a resident handler gets a line, and its answer counts")
    func resident() async throws {
        let script = """
            while read -r line; do
                case "$line" in
                *nope*) echo '{"answer":"no","reason":"not mine"}' ;;
                *) echo '{"answer":"yes"}' ;;
                esac
            done
            """
        try write("Stays", "foo", script, ["WaftLaunch": "resident"])
        #expect(try await open("foo:x").text == "foo:x: opened by Stays")
        #expect(try await open("foo:nope").text == "foo:nope: Stays said no: not mine")
    }

    @Test("a scheme without a handler is exit code 13, with the schemes that are opened and the next step")
    func nobody() async throws {
        try write("A", "foo", "exit 0")
        try write("Off", "bar", "exit 0")
        _ = try shelf.run("disable", "off")
        let outcome = try await open("bar:x")
        #expect(outcome.exit == .ineligible)
        #expect(
            outcome.text
                == "bar:x: no handler for bar: URLs; known: http, https, mailto, tel, sms, file, foo")
        #expect(outcome.details.first?.contains("--scheme bar") == true)
    }

    @Test("schemes with a global meaning go to xdg-open, in ASCII, and no handler is asked")
    func builtIn() async throws {
        shelf.folder.program("xdg-open", "#!/bin/sh\nprintf '%s|' \"$@\" > '\(shelf.folder.path)/args'\n")
        try write("Thief", "https", "exit 0")
        let outcome = try await open("https://ä.org/$(id);x", opening(searchPath: shelf.folder.path))
        #expect(outcome.exit == .done)
        #expect(try text("args") == "https://%C3%A4.org/$(id);x|")
        #expect(outcome.attempts.last?.identifier == "org.waft.xdg-open")
    }

    @Test("without xdg-open it says in one line what to install: exit code 1")
    func noOpener() async throws {
        for scheme in ["http", "https", "mailto", "tel", "sms", "file"] {
            let outcome = try await open(scheme + ":x")
            #expect(outcome.exit == .unexpected)
            #expect(outcome.text.hasSuffix("which is missing; install xdg-utils"))
            #expect(outcome.details.isEmpty)
        }
    }

    @Test(
        "an argument that is no URL is exit code 64, with the reason in one line",
        arguments: [
            "", "report.pdf", "a b:c", "foo:\u{1B}[2J", "http://[::1", "http://a:99999/", "1a:b", "foo:\u{202E}x",
            String(repeating: "a:", count: 10_000),
        ])
    func refused(text: String) throws {
        let failure = #expect(throws: CommandError.self) { try OpenCommand.parts(text) }
        #expect(failure?.exit == .usage)
        #expect(failure?.message.contains("the URL") == true)
        #expect(failure.map { $0.message.count < 400 && !$0.message.contains("\u{1B}") } == true)
    }

    @Test("when the user ends it, the handler is ended too")
    func cancelled() async throws {
        mkfifo(shelf.folder / "began", 0o600)
        try write("Slow", "foo", "echo > '\(shelf.folder.path)/began'; exec sleep 600")
        let opening = opening()
        let url = try OpenCommand.parts("foo:x")
        let task = Task { try await opening.open(url) }
        // The pipe can be opened once the handler has opened its end.
        let path = shelf.folder / "began"
        _ = await BackgroundThread.run("waft-test") { FileManager.default.contents(atPath: path) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
