import Foundation
import HandlerCatalog
import Handlers
import Lines
import Settings
import TestSupport
import Testing

@testable import Operations

@Suite("What a user can do with URLs")
struct LinkOpeningTests {
    private let kitchen: Kitchen

    init() throws { kitchen = try Kitchen(jobs: 0) }

    private func write(_ name: String, _ scheme: String, _ script: String, _ more: [String: Any] = [:]) throws {
        try kitchen.handler(
            name, script, ["CFBundleURLTypes": [["CFBundleURLSchemes": [scheme]]]].merging(more) { $1 })
    }

    private func opening(timeLimit: Duration = .seconds(60), searchPath: String = "/not/there") throws -> LinkOpening {
        let opening = try kitchen.waft.linkOpening()
        return LinkOpening(
            snapshot: opening.snapshot, runner: opening.runner, timeLimit: timeLimit, requiresSandbox: false,
            opener: SystemOpener(searchPath: searchPath))
    }

    private func open(_ text: String, _ opening: LinkOpening? = nil) async throws -> LinkOpening.Outcome {
        try await (try opening ?? self.opening()).open(try LinkOpening.parts(text))
    }

    /// The line of an opening that fails.
    private func failure(_ text: String, _ opening: LinkOpening? = nil) async throws -> LinkFailedLine? {
        guard case .failed(let line) = try await open(text, opening) else { return nil }
        return line
    }

    private func opened(_ text: String, _ opening: LinkOpening? = nil) async throws -> LinkOpenedLine? {
        guard case .opened(let line) = try await open(text, opening) else { return nil }
        return line
    }

    @Test("the handler of the scheme is started with the URL as it is, and with its parts on standard input")
    func yes() async throws {
        try write(
            "Yes", "foo",
            "printf '%s|' \"$@\" > '\(kitchen.folder.path)/args'; cat > '\(kitchen.folder.path)/json'")
        let line = try #require(try await opened("foo://a/b?c='$(id)'#;d"))
        #expect(line.exit == .done && line.handler == "org.example.yes" && line.attempts.map(\.name) == ["Yes"])
        #expect(try kitchen.text("args") == "open-url|foo://a/b?c='$(id)'#;d|")
        #expect(try kitchen.text("json").contains(#""query":"c='$(id)'""#))
        #expect(LineContract.shared.faults(in: [line.json]) == [])
    }

    @Test("after a no the next handler is asked, in the order of the catalog")
    func next() async throws {
        let log = kitchen.folder / "log"
        for (name, exit) in [("A", 1), ("B", 0), ("C", 0)] {
            try write(name, "foo", "echo \(name) >> '\(log)'; exit \(exit)")
        }
        let line = try #require(try await opened("foo:x"))
        let asked = line.attempts.map(\.name)
        #expect(asked.last.map { ["B", "C"].contains($0) } == true && asked.dropLast().allSatisfy { $0 == "A" })
        #expect(try kitchen.text("log") == asked.map { $0 + "\n" }.joined())
    }

    @Test("all that say no are named")
    func no() async throws {
        try write("A", "foo", "exit 1")
        try write("B", "foo", "exit 1")
        let line = try #require(try await failure("foo:x"))
        #expect(line.exit == .handlerSaidNo && line.attempts.map(\.handlerAnswer) == ["no", "no"])
        #expect(["A, B said no", "B, A said no"].contains(line.reason))
    }

    @Test(
        "a failure, a later and the end of the time are a no, with the reason and the handler's output",
        arguments: [
            ("printf 'oh\\033[31m no\\n' >&2; exit 3", "Bad failed: exit code 3", "oh\u{1B}[31m no\n"),
            ("exit 75", "Bad does not open it now", nil),
            ("exec sleep 600", "Bad does not open it now: out of time", nil),
        ])
    func failures(script: String, reason: String, output: String?) async throws {
        try write("Bad", "bad", script)
        let line = try #require(
            try await failure("bad:x", opening(timeLimit: .milliseconds(script.contains("sleep") ? 200 : 60_000))))
        #expect(line.exit == .handlerSaidNo && line.reason.hasPrefix(reason), "\(line.reason)")
        #expect(line.attempts.map(\.output) == [output])
    }

    @Test("both launch calls must say yes")
    func launchCalls() async throws {
        let calls = ["WaftLaunchCalls": ["will-finish-launching", "did-finish-launching"]]
        try write(
            "A", "foo", "echo $1 >> '\(kitchen.folder.path)/log'; [ $1 != did-finish-launching ]", calls)
        #expect(try await failure("foo:x")?.exit == .handlerSaidNo)
        #expect(try kitchen.text("log") == "will-finish-launching\ndid-finish-launching\n")
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
        #expect(try await opened("foo:x")?.handler == "org.example.stays")
        #expect(try await failure("foo:nope")?.reason == "Stays said no: not mine")
    }

    @Test("a scheme without a handler has the schemes that are opened, and the next step")
    func nobody() async throws {
        try write("A", "foo", "exit 0")
        let line = try #require(try await failure("bar:x"))
        #expect(line.exit == .ineligible && line.attempts.isEmpty)
        #expect(line.reason == "no handler for bar: URLs; known: http, https, mailto, tel, sms, file, foo")
        #expect(line.hint?.contains("--scheme bar") == true)
    }

    @Test("schemes with a global meaning go to xdg-open, in ASCII, and no handler is asked")
    func builtIn() async throws {
        kitchen.folder.program("xdg-open", "#!/bin/sh\nprintf '%s|' \"$@\" > '\(kitchen.folder.path)/args'\n")
        try write("Thief", "https", "exit 0")
        let line = try await opened("https://ä.org/$(id);x", opening(searchPath: kitchen.folder.path))
        #expect(line?.handler == "org.waft.xdg-open")
        #expect(try kitchen.text("args") == "https://%C3%A4.org/$(id);x|")
    }

    @Test("without xdg-open the reason says in one line what to install")
    func noOpener() async throws {
        for scheme in ["http", "https", "mailto", "tel", "sms", "file"] {
            let line = try #require(try await failure(scheme + ":x"))
            #expect(line.exit == .unexpected && line.hint == nil)
            #expect(line.reason.hasSuffix("which is missing; install xdg-utils"))
        }
    }

    @Test(
        "a text that is no URL is wrong usage, with the reason in one line",
        arguments: [
            "", "report.pdf", "a b:c", "foo:\u{1B}[2J", "http://[::1", "http://a:99999/", "1a:b", "foo:\u{202E}x",
            String(repeating: "a:", count: 10_000),
        ])
    func refused(text: String) throws {
        let failure = #expect(throws: WaftError.self) { try LinkOpening.parts(text) }
        #expect(failure?.code == .usage && failure?.reason.contains("the URL") == true)
        #expect(failure.map { $0.reason.count < 400 } == true)
        #expect(text != "report.pdf" || failure?.hint?.hasPrefix("for a file: waft open-in") == true)
    }

    @Test("when the user ends it, the handler is ended too")
    func cancelled() async throws {
        let path = kitchen.pipe("began")
        try write("Slow", "foo", "echo > '\(path)'; exec sleep 600")
        let (opening, url) = (try opening(), try LinkOpening.parts("foo:x"))
        let task = Task { try await opening.open(url) }
        await Kitchen.word(from: path)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("an Inbox that another user could change is refused, and nothing is asked")
    func untrusted() throws {
        try FileManager.default.createDirectory(atPath: kitchen.home.inbox, withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: kitchen.home.inbox)
        let failure = #expect(throws: WaftError.self) { try kitchen.waft.linkOpening() }
        #expect(failure?.code == .usage)
    }
}
