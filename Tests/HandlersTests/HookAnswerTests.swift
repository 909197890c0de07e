import Foundation
import HandlerCatalog
import Handlers
import HookSandbox
import Sharing
import TestSupport
import Testing

@Suite("A hook's answers", .timeLimit(.minutes(1)))
struct HookAnswerTests {
    @Test(
        "an exit code is an answer: 0 is yes, 1 is no, 75 is later, anything else a failure",
        arguments: [(0, .yes), (1, .no), (2, .failed), (75, .later), (118, .failed), (126, .failed), (255, .failed)]
            as [(Int, AttemptOutcome.Answer)])
    func exitCodes(code: Int, answer: AttemptOutcome.Answer) async throws {
        let place = HookFolder()
        for sandbox in [SandboxPlan.Level.none, .strict] {
            let outcome = try await place.run("exit \(code)", sandbox: sandbox)
            #expect(outcome.answer == answer)
            #expect(outcome.exitCode == code)
            #expect(outcome.reason == (code < 2 ? "" : "exit code \(code)"))
        }
    }

    @Test("a hook that is ended by a signal is asked again later", arguments: ["TERM", "KILL", "SEGV"])
    func signals(signal: String) async throws {
        let place = HookFolder()
        let outcome = try await place.run("kill -\(signal) $$")
        let number = ["TERM": 15, "KILL": 9, "SEGV": 11][signal]
        #expect(outcome.answer == .later)
        #expect(outcome.signal == number)
        #expect(outcome.exitCode == nil)
    }

    @Test("without its launcher a hook is asked again later, and the reason says what to install")
    func withoutLauncher() async throws {
        let place = HookFolder()
        let runner = HandlerRunner(
            inbox: place.inbox, scratchFolder: place.scratch, launcher: place.folder / "wafthook", logger: quiet)
        let outcome = try await runner.run(
            place.program(place.script("exit 0"), sandbox: .strict), .open(.sample(), attempt: 1))
        #expect(outcome.answer == .later)
        #expect(outcome.reason.contains("install wafthook beside waft and waftd"))
    }

    @Test("a program that cannot be executed has failed, and the reason says why", arguments: [false, true])
    func notExecutable(isSandboxed: Bool) async throws {
        let place = HookFolder()
        let folder = place.folder
        let expected = [
            (folder / "missing", "does not exist"),
            (folder.file("plain", "#!/bin/sh\n", mode: 0o644), "chmod +x may be missing"),
            (folder.path, "is not an executable file"),
            (folder.file("text", "touch pwned\nexit 0\n", mode: 0o755), "neither a program nor a script"),
            (folder.file("strange", "#!/no/such/program -x\n", mode: 0o755), "names /no/such/program in its first"),
            (folder.file("windows", "#!/bin/sh\r\n", mode: 0o755), "names /bin/sh\\r in its first line"),
        ]
        for (path, reason) in expected {
            let program = place.program(path, sandbox: isSandboxed ? .strict : .none)
            let outcome = try await place.runner().run(program, .open(.sample(), attempt: 1))
            #expect(outcome.answer == .failed)
            #expect(outcome.reason.contains(reason), "\(outcome.reason)")
            #expect(outcome.exitCode == nil)
        }
        #expect(place.scratchNames.isEmpty)
        #expect(!folder.names.contains("pwned"))
    }

    @Test("a program whose folder is gone has failed")
    func noFolder() async throws {
        let place = HookFolder()
        var program = place.program("/bin/sh")
        program.folder = place.folder / "missing"
        let outcome = try await place.runner().run(program, .open(.sample(), attempt: 1))
        #expect(outcome.answer == .failed)
        #expect(outcome.reason == "its folder \(program.folder) is missing")
    }

    @Test("a program that is being written is asked again later", arguments: [false, true])
    func beingWritten(isSandboxed: Bool) async throws {
        let place = HookFolder()
        let script = place.script("exit 0")
        let writer = open(script, O_WRONLY | O_CLOEXEC)
        defer { close(writer) }
        let program = place.program(script, sandbox: isSandboxed ? .strict : .none)
        let outcome = try await place.runner().run(program, .open(.sample(), attempt: 1))
        #expect(outcome.answer == .later, "\(outcome)")
    }

    @Test("without room for the temporary folder, the program is asked again later")
    func noScratch() async throws {
        let place = HookFolder()
        let runner = HandlerRunner(inbox: place.inbox, scratchFolder: place.folder / "no/where", logger: quiet)
        let outcome = try await runner.run(place.program(place.script("exit 0")), .open(.sample(), attempt: 1))
        #expect(outcome.answer == .later)
        #expect(outcome.reason.hasPrefix("no temporary folder could be made in"))
    }

    @Test("a hook that cannot be sandboxed has failed, and was not executed")
    func notSandboxed() async throws {
        let place = HookFolder()
        var program = place.program(place.script("touch ran"), sandbox: .require)
        program.writablePaths = [place.folder / "missing"]
        let outcome = try await place.runner().run(program, .open(.sample(), attempt: 1))
        #expect(outcome.answer == .failed)
        #expect(outcome.exitCode == nil)
        if HookSandbox.support.abi > 0 {
            #expect(outcome.reason.hasPrefix("the hook could not be sandboxed: \(program.writablePaths[0])"))
        } else {
            #expect(outcome.reason.contains("requires Landlock"))
        }
        #expect(place.folder.names == ["hook"])
    }

    @Test("a file that is no executable is a hook that is missing")
    func unfit() throws {
        let place = HookFolder()
        let folder = place.folder
        symlink("/nowhere", folder / "dangling")
        let unfit = [
            folder / "missing", folder.file("plain", "#!/bin/sh\n", mode: 0o644), folder.path, folder / "dangling", "",
            "/dev/null",
        ]
        for path in unfit {
            let hook = HandlerProgram.hook(path: path, dataFolder: "/", timeLimit: .seconds(1), sandbox: .strict)
            #expect(hook.absence?.hasPrefix(hook.executable) == true, "\(path): \(hook.absence ?? "there")")
        }
    }

    @Test("a hook is missing without a path that its sandbox opens, until the path is there")
    func missingPath() throws {
        let place = HookFolder()
        let mount = place.folder / "mount"
        var hook = HandlerProgram.hook(
            path: "/bin/sh", dataFolder: "/", timeLimit: .seconds(1), sandbox: .strict,
            rules: LaunchRules(writablePaths: [mount]))
        #expect(hook.absence == "\(mount), where it may write, does not exist")
        hook.sandbox = .none
        #expect(hook.absence == nil)
        hook.sandbox = .strict
        mkdir(mount, 0o700)
        #expect(hook.absence == nil)
    }

    @Test("a bundle's program that was missing is missing until the bundle is read again")
    func missingUntilRead() throws {
        func program(_ fault: String?) -> HandlerProgram? {
            let bundle = HandlerBundle(
                identifier: .inbox, name: "A", path: "/bin", origin: .user,
                installed: Timestamp(seconds: 0, nanoseconds: 0), executable: "/bin/sh", programFault: fault)
            return HandlerProgram(bundle: bundle, defaultTimeLimit: .seconds(1), requiresSandbox: false)
        }
        #expect(try #require(program("is missing")).absence == "/bin/sh is missing")
        #expect(try #require(program(nil)).absence == nil)
    }

    @Test("a hook that is a link to an executable is one, and its data folder is made for it")
    func link() async throws {
        let place = HookFolder()
        let script = place.script("exit 1")
        symlink(script, place.folder / "link")
        let hook = HandlerProgram.hook(
            path: place.folder / "link", dataFolder: place.folder / "data", timeLimit: .seconds(60), sandbox: .strict)
        #expect(hook.isConfiguredHook)
        #expect(hook.folder == place.folder.path)
        #expect(try await place.runner().run(hook, .open(.sample(), attempt: 1)).answer == .no)
        #expect(place.folder.names.contains("data"))
    }

    @Test("a relative path is taken from the working directory, and made absolute")
    func relative() throws {
        let hook = HandlerProgram.hook(
            path: "../../../../../../../../../../bin/./sh", dataFolder: "/", timeLimit: .seconds(1), sandbox: .none)
        #expect(hook.executable == "/bin/sh" || hook.executable == "/usr/bin/sh")
    }

    @Test("a bundle's program is the one that the bundle names, and the built-in handler has none")
    func bundles() throws {
        let launch = LaunchRules(
            mode: .perTransfer, calls: [.didFinishLaunching], sandbox: .strict, readablePaths: ["/r"],
            writablePaths: ["/a"], allowsNetwork: true, timeout: .seconds(7))
        let identifier = try #require(BundleIdentifier("org.example.a"))
        var bundle = HandlerBundle(
            identifier: identifier, version: "3", name: "A", path: "/h/A.handler", dataFolder: "/d/org.example.a",
            origin: .user, installed: Timestamp(seconds: 0, nanoseconds: 0), executable: "/h/A.handler/run",
            launch: launch)
        var program = try #require(
            HandlerProgram(bundle: bundle, defaultTimeLimit: .seconds(60), requiresSandbox: true))
        #expect(program.sandbox == .require)
        #expect(program.timeLimit == .seconds(7))
        #expect(program.folder == "/h/A.handler" && program.bundle == "/h/A.handler")
        #expect(program.dataFolder == "/d/org.example.a" && program.version == "3")
        #expect(program.readablePaths == ["/r"] && program.writablePaths == ["/a"])
        #expect(program.allowsNetwork && !program.allowsSockets)
        #expect(program.mode == .perTransfer && program.calls == [.didFinishLaunching])
        bundle = HandlerBundle(
            identifier: identifier, name: "A", path: "/h/A.handler", origin: .user,
            installed: Timestamp(seconds: 0, nanoseconds: 0), executable: "/h/A.handler/run",
            launch: LaunchRules(sandbox: .none))
        program = try #require(HandlerProgram(bundle: bundle, defaultTimeLimit: .seconds(60), requiresSandbox: true))
        #expect(program.sandbox == .none)
        #expect(program.timeLimit == .seconds(60))
        #expect(HandlerProgram(bundle: .inbox, defaultTimeLimit: .seconds(60), requiresSandbox: false) == nil)
    }
}

@Suite("The launch protocol", .timeLimit(.minutes(1)))
struct LaunchProtocolTests {
    private let body = #"echo "$1 $#" >> asked; cat > "$1"; eval "exit \$(cat "$1.code" 2>/dev/null || echo 0)""#

    private func launch(
        _ place: HookFolder, will: Int, did: Int,
        _ calls: Set<LaunchRules.Call> = [.willFinishLaunching, .didFinishLaunching]
    ) async throws -> AttemptOutcome? {
        place.folder.file("will-finish-launching.code", "\(will)")
        place.folder.file("did-finish-launching.code", "\(did)")
        return try await place.runner().launch(
            place.program(place.script(body), calls: calls), .open(.sample(), attempt: 1))
    }

    @Test("both questions are asked in order, with the facts about the item")
    func both() async throws {
        let place = HookFolder()
        #expect(try await launch(place, will: 0, did: 0) == nil)
        #expect(place.text("asked") == "will-finish-launching 1\ndid-finish-launching 1\n")
        let document = try place.json("did-finish-launching")
        #expect(document["call"] as? String == "did-finish-launching")
        #expect(document["name"] as? String == "report.pdf")
    }

    @Test("only the questions that the bundle declares are asked")
    func declared() async throws {
        let place = HookFolder()
        #expect(try await launch(place, will: 1, did: 0, [.didFinishLaunching]) == nil)
        #expect(place.text("asked") == "did-finish-launching 1\n")
        let none = HookFolder()
        #expect(try await launch(none, will: 1, did: 1, []) == nil)
        #expect(none.text("asked") == nil)
    }

    @Test("one no is enough, and the other question is asked all the same", arguments: [(1, 0), (0, 1), (1, 1)])
    func no(will: Int, did: Int) async throws {
        let place = HookFolder()
        let outcome = try #require(try await launch(place, will: will, did: did))
        #expect(outcome.answer == .no)
        #expect(outcome.reason.hasPrefix(will == 1 ? "will-finish-launching: " : "did-finish-launching: "))
        #expect(place.text("asked") == "will-finish-launching 1\ndid-finish-launching 1\n")
    }

    @Test(
        "after later or a failure nothing more is asked",
        arguments: [(75, .later), (3, .failed)] as [(Int, AttemptOutcome.Answer)])
    func notNow(code: Int, answer: AttemptOutcome.Answer) async throws {
        let place = HookFolder()
        #expect(try await launch(place, will: code, did: 0)?.answer == answer)
        #expect(place.text("asked") == "will-finish-launching 1\n")
    }

    @Test("the question about the first launch is asked until a version says yes, and again of the next version")
    func firstLaunch() async throws {
        let place = HookFolder()
        func launch(_ version: String, code: Int, did: Int = 0) async throws -> AttemptOutcome? {
            place.folder.file("first-launch.code", "\(code)")
            place.folder.file("did-finish-launching.code", "\(did)")
            try? FileManager.default.removeItem(atPath: place.folder / "asked")
            let program = place.program(
                place.script(body), calls: [.firstLaunch, .didFinishLaunching], version: version)
            return try await place.runner().launch(program, .open(.sample(), attempt: 1))
        }
        #expect(try await launch("1", code: 1)?.reason == "first-launch: it said no")
        #expect(place.text("asked") == "first-launch 1\ndid-finish-launching 1\n")
        #expect(try await launch("1", code: 0, did: 1)?.answer == .no, "both must say yes")
        #expect(place.text("asked") == "first-launch 1\ndid-finish-launching 1\n")
        #expect(try place.json("first-launch")["call"] as? String == "first-launch")
        #expect(try await launch("1", code: 1) == nil)
        #expect(place.text("asked") == "did-finish-launching 1\n", "it has said yes")
        #expect(try await launch("2", code: 0) == nil)
        #expect(place.text("asked") == "first-launch 1\ndid-finish-launching 1\n")
    }

    @Test("a no stays a no, whatever the answer to the other question is")
    func noWins() async throws {
        #expect(try await launch(HookFolder(), will: 1, did: 75)?.answer == .no)
    }
}
