import Foundation
import HandlerCatalog
import HookSandbox
import Sharing
import TestSupport
import Testing

@testable import Handlers

@Suite("A resident handler", .timeLimit(.minutes(1)))
struct ResidentHandlerTests {
    private static let loop = """
        import json, os, sys
        def say(answer, **more):
            print(json.dumps({"answer": answer, **more}), flush=True)
        alive = open("alive", "w")
        alive.write("up %s\\n" % " ".join(sys.argv[1:]))
        alive.flush()
        for line in sys.stdin:
            call = json.loads(line)
        """

    /// A handler in Python that holds the pipe `alive`. It runs `body` for each `call`.
    private func resident(
        _ place: HookFolder,
        _ body: String,
        calls: Set<LaunchRules.Call> = [],
        timeLimit: Duration = .seconds(3_600),
        idleTime: Duration = .seconds(3_600),
        wait: Duration = .seconds(3_600),
        grace: Duration = .milliseconds(500),
        sandbox: SandboxPlan.Level = .none
    ) -> (handler: ResidentHandler, alive: Recorder<String?>) {
        place.makePipe("alive")
        let alive = place.listen(to: "alive")
        let indented = body.split(separator: "\n").map { "    " + $0 }.joined(separator: "\n")
        let program = place.program(
            place.python(Self.loop + "\n" + indented), mode: .resident, calls: calls, timeLimit: timeLimit,
            sandbox: sandbox)
        let handler = ResidentHandler(
            program: program, runner: place.runner(grace: grace), idleTime: idleTime, firstWait: wait, longestWait: wait
        )
        return (handler, alive)
    }

    private func call(_ number: Int64) -> HookCall { .open(.sample(number: number), attempt: 1) }

    @Test(
        "it is started once, told of one arrival a line, and answers each",
        arguments: [SandboxPlan.Level.none, .strict])
    func several(sandbox: SandboxPlan.Level) async throws {
        let place = HookFolder()
        let answers = #"""
            say(["yes", "no", "later", "failed"][call["number"] % 4], number=call["number"], reason=call["name"])
            """#
        let (handler, alive) = resident(place, answers, sandbox: sandbox)
        let expected: [AttemptOutcome.Answer] = [.yes, .no, .later, .failed, .yes]
        for (number, answer) in expected.enumerated() {
            let outcome = try await handler.ask(call(Int64(number)))
            #expect(outcome == AttemptOutcome(answer, reason: "report.pdf"))
        }
        #expect(await handler.isRunning)
        await handler.stop()
        try await place.end(of: "alive", alive)
        #expect(alive.all == ["up open-url -", nil])
        #expect(place.scratchNames.isEmpty)
        await #expect(throws: CancellationError.self) { try await handler.ask(call(1)) }
    }

    @Test("it has no item in its environment, and its command line says nothing")
    func environment() async throws {
        let place = HookFolder()
        setenv("WAFT_TRANSFER", "left over", 1)
        defer { unsetenv("WAFT_TRANSFER") }
        let names = "' '.join(sorted(name for name in os.environ if name.startswith('WAFT_')))"
        let (handler, _) = resident(place, "say('yes', reason=\(names))")
        #expect(try await handler.ask(call(1)).reason == "WAFT_DATA WAFT_SOURCE_APPLICATION_ID")
        await handler.stop()
    }

    @Test("it is asked about one item at a time, in order")
    func order() async throws {
        let place = HookFolder()
        let (handler, _) = resident(place, "open('order', 'a').write('%d\\n' % call['number']); say('yes')")
        try await withThrowingTaskGroup(of: AttemptOutcome.self) { group in
            for number in 1...20 { group.addTask { try await handler.ask(call(Int64(number))) } }
            for try await outcome in group { #expect(outcome.answer == .yes) }
        }
        #expect(place.text("order")?.split(separator: "\n").count == 20)
        await handler.stop()
    }

    @Test("it gets a line when its item is about to leave the Inbox, and may answer at once")
    func moving() async throws {
        let place = HookFolder()
        let (handler, alive) = resident(
            place,
            """
            if call["call"] == "open-url": alive.write("asked\\n"); alive.flush()
            else: say("later", number=call["number"], reason=json.dumps(call, sort_keys=True))
            """)
        async let outcome = handler.ask(call(12))
        _ = try await alive.first { $0 == "asked" }
        await handler.itemWillMove(ArrivalNumber(11))
        await handler.itemWillMove(ArrivalNumber(12))
        let notice = #"{"call": "presented-item-will-move", "number": 12, "v": 1}"#
        #expect(try await outcome == AttemptOutcome(.later, reason: notice))
        await handler.itemWillMove(ArrivalNumber(12))
        await handler.stop()
    }

    @Test("a handler that takes such a notice for a question and answers twice is not ended")
    func answersNotice() async throws {
        let place = HookFolder()
        place.makePipe("go")
        let (handler, alive) = resident(
            place,
            """
            if call["call"] == "open-url" and call["number"] == 12:
             alive.write("asked\\n"); alive.flush(); open("go").read()
            say("yes", number=call["number"])
            """)
        async let outcome = handler.ask(call(12))
        _ = try await alive.first { $0 == "asked" }
        await handler.itemWillMove(ArrivalNumber(12))
        place.release("go")
        #expect(try await outcome.answer == .yes)
        #expect(try await handler.ask(call(13)).answer == .yes)
        #expect(try await handler.ask(call(14)).answer == .yes)
        await handler.stop()
        try await place.end(of: "alive", alive)
        #expect(alive.all == ["up open-url -", "asked", nil])
    }

    @Test("after such a notice, answers without numbers cannot be told apart: the next question goes to a new process")
    func answersWithoutNumbers() async throws {
        let place = HookFolder()
        for pipe in ["begun", "go"] { place.makePipe(pipe) }
        let begun = place.listen(to: "begun")
        let script = """
            import json, sys
            for line in sys.stdin:
                call = json.loads(line)
                if call["call"] == "open-url" and call["number"] == 12:
                    open("begun", "w").write("asked\\n")
                    open("go").read()
                print(json.dumps({"answer": "yes" if call["number"] == 12 else "no"}), flush=True)
            """
        let handler = ResidentHandler(
            program: place.program(place.python(script), mode: .resident), runner: place.runner(),
            firstWait: .seconds(3_600), longestWait: .seconds(3_600))
        async let outcome = handler.ask(call(12))
        _ = try await begun.first { $0 == "asked" }
        await handler.itemWillMove(ArrivalNumber(12))
        place.release("go")
        #expect(try await outcome.answer == .yes)
        #expect(try await handler.ask(call(13)).answer == .no)
        #expect(try await handler.ask(call(14)).answer == .no)
        await handler.stop()
    }

    @Test("it gets a line about an item that began to leave while the handler was being launched")
    func movingEarly() async throws {
        let place = HookFolder()
        for pipe in ["begun", "go"] { place.makePipe(pipe) }
        let begun = place.listen(to: "begun")
        let script = """
            import json, sys
            if sys.argv[1] != "open-url":
                open("begun", "w").write("asked\\n")
                open("go").read()
                sys.exit(0)
            for line in sys.stdin:
                call = json.loads(line)
                if call["call"] != "open-url":
                    print(json.dumps({"answer": "later", "number": call["number"], "reason": call["call"]}), flush=True)
            """
        let handler = ResidentHandler(
            program: place.program(place.python(script), mode: .resident, calls: [.willFinishLaunching]),
            runner: place.runner())
        async let outcome = handler.ask(call(12))
        _ = try await begun.first { $0 == "asked" }
        await handler.itemWillMove(ArrivalNumber(12))
        place.release("go")
        #expect(try await outcome == AttemptOutcome(.later, reason: "presented-item-will-move"))
        await handler.stop()
    }

    @Test("a document that is larger than a pipe arrives whole")
    func largeDocument() async throws {
        let place = HookFolder()
        let (handler, _) = resident(place, "say('yes', reason=str(len(call['annotation']['note'])))")
        let note = String(repeating: "x", count: 4 << 20)
        for _ in 0..<2 {
            let outcome = try await handler.ask(.open(.sample(annotation: ["note": note]), attempt: 1))
            #expect(outcome.reason == "4194304")
        }
        await handler.stop()
    }

    @Test("its standard error is kept with the answer that follows it")
    func standardError() async throws {
        let place = HookFolder()
        let (handler, _) = resident(place, "print('about', call['number'], file=sys.stderr, flush=True); say('yes')")
        #expect(try await handler.ask(call(1)).standardError == "about 1\n")
        #expect(try await handler.ask(call(2)).standardError == "about 2\n")
        await handler.stop()
    }

    @Test("it is launched before it is started, and not started when it says no")
    func launch() async throws {
        let place = HookFolder()
        place.makePipe("alive")
        let script = place.script(
            #"""
            echo "$@" >> asked; [ "$1" = open-url ] || exit $(cat code)
            while read -r l; do echo '{"answer":"yes"}'; done
            """#)
        let handler = ResidentHandler(
            program: place.program(script, calls: Set(LaunchRules.Call.allCases)), runner: place.runner())
        place.folder.file("code", "1")
        #expect(try await handler.ask(call(1)).answer == .no)
        #expect(await !handler.isRunning)
        place.folder.file("code", "0")
        for _ in 0..<2 { #expect(try await handler.ask(call(1)).answer == .yes) }
        let launch = "first-launch\nwill-finish-launching\ndid-finish-launching\n"
        #expect(place.text("asked") == launch + launch + "open-url -\n")
        await handler.stop()
    }

    @Test("a handler that leaves during a question is asked again later, after a pause", arguments: [0, 3])
    func leaves(code: Int) async throws {
        let place = HookFolder()
        let (handler, alive) = resident(place, "print('why', file=sys.stderr, flush=True); sys.exit(\(code))")
        let outcome = try await handler.ask(call(1))
        #expect(
            outcome
                == AttemptOutcome(
                    .later, exitCode: code, reason: "it left with exit code \(code) before it answered",
                    standardError: "why\n"))
        try await place.end(of: "alive", alive)
        #expect(await !handler.isRunning)
        #expect((await handler.notBefore != nil) == (code != 0))
        if code != 0 {
            #expect(try await handler.ask(call(1)).reason.contains("not started again yet"))
            #expect(alive.count == 2)
        }
        await handler.stop()
        #expect(place.scratchNames.isEmpty)
    }

    @Test("a crashed handler is started again after its pause")
    func startsAgain() async throws {
        let place = HookFolder()
        let body = """
            if call["number"] == 1: os.kill(os.getpid(), 11)
            say("yes")
            """
        let (handler, alive) = resident(place, body, wait: .zero)
        let outcome = try await handler.ask(call(1))
        #expect(outcome.answer == .later)
        #expect(outcome.signal == 11)
        try await place.end(of: "alive", alive)
        let again = place.listen(to: "alive")
        #expect(try await handler.ask(call(2)).answer == .yes)
        await handler.stop()
        try await place.end(of: "alive", again)
    }

    @Test(
        "a handler that violates the form has failed, and is ended",
        arguments: [
            ("print('hello', flush=True)", "not valid JSON: hello"),
            ("print(flush=True)", "not valid JSON"),
            ("say('perhaps')", "neither yes, no, later nor failed: perhaps"),
            ("say('yes', number=99)", "for 99, which is not its question"),
            ("sys.stdout.write('x' * 70000); sys.stdout.flush()", "a line of more than 64 KiB"),
        ])
    func nonsense(body: String, reason: String) async throws {
        let place = HookFolder()
        let (handler, alive) = resident(place, body)
        let outcome = try await handler.ask(call(1))
        #expect(outcome.answer == .failed)
        #expect(outcome.reason.contains(reason), "\(outcome.reason)")
        try await place.end(of: "alive", alive)
        #expect(await !handler.isRunning)
        await handler.stop()
    }

    @Test("a handler that answers before it has read the question has failed")
    func answersTooEarly() async throws {
        let place = HookFolder()
        place.makePipe("alive")
        let alive = place.listen(to: "alive")
        let script = place.script(#"exec 9> alive; echo up >&9; echo '{"answer":"yes"}'; sleep 86400"#)
        let handler = ResidentHandler(program: place.program(script), runner: place.runner())
        let note = String(repeating: "x", count: 4 << 20)
        let outcome = try await handler.ask(.open(.sample(annotation: ["note": note]), attempt: 1))
        #expect(outcome.answer == .failed)
        #expect(outcome.reason == "it answered before it had read the question")
        try await place.end(of: "alive", alive)
        await handler.stop()
    }

    @Test("an unrequested answer ends it, and the answer before it stands")
    func answersTwice() async throws {
        let place = HookFolder()
        let (handler, alive) = resident(place, "say('yes'); say('yes')", wait: .zero)
        #expect(try await handler.ask(call(1)).answer == .yes)
        try await place.end(of: "alive", alive)
        let again = place.listen(to: "alive")
        #expect(try await handler.ask(call(2)).answer == .yes)
        await handler.stop()
        try await place.end(of: "alive", again)
    }

    @Test("a handler that prints without end is ended, and takes no memory")
    func torrent() async throws {
        let place = HookFolder()
        place.makePipe("alive")
        let alive = place.listen(to: "alive")
        let handler = ResidentHandler(
            program: place.program(place.script("exec 9> alive; echo up >&9; yes")), runner: place.runner())
        #expect(try await handler.ask(call(1)).answer == .failed)
        try await place.end(of: "alive", alive)
        await handler.stop()
    }

    @Test("a handler that exceeds its time is ended with its processes, and asked again later")
    func outOfTime() async throws {
        let place = HookFolder()
        let (handler, alive) = resident(
            place, "os.system('sleep 86400 & echo waiting >&2'); sys.stdin.read()", timeLimit: .seconds(1))
        let outcome = try await handler.ask(call(1))
        #expect(outcome.answer == .later)
        #expect(outcome.reason == "out of time after 1.0 seconds")
        try await place.end(of: "alive", alive)
        #expect(await handler.notBefore != nil)
        await handler.stop()
    }

    @Test("a question whose asker is cancelled counts for nothing, and the handler is ended")
    func cancelled() async throws {
        let place = HookFolder()
        let (handler, alive) = resident(place, "alive.write('asked\\n'); alive.flush(); sys.stdin.read()")
        let asking = Task { try await handler.ask(call(1)) }
        try await alive.first { $0 == "asked" }
        asking.cancel()
        await #expect(throws: CancellationError.self) { try await asking.value }
        try await place.end(of: "alive", alive)
        await handler.stop()
    }

    @Test("stopping ends it at once, during any question, and even if it refuses to end")
    func stop() async throws {
        let place = HookFolder()
        let body = """
            import signal
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            alive.write('asked\\n'); alive.flush()
            signal.pause()
            """
        let (handler, alive) = resident(place, body)
        let asking = Task { try await handler.ask(call(1)) }
        let waiting = Task {
            try await alive.first { $0 == "asked" }
            return try await handler.ask(call(2))
        }
        try await alive.first { $0 == "asked" }
        await handler.stop()
        await #expect(throws: CancellationError.self) { try await asking.value }
        await #expect(throws: CancellationError.self) { try await waiting.value }
        try await place.end(of: "alive", alive)
        #expect(place.scratchNames.isEmpty)
    }

    @Test("stopping ends the questions of the launch too")
    func stopWhileLaunching() async throws {
        let place = HookFolder()
        place.makePipe("alive")
        let alive = place.listen(to: "alive")
        let handler = ResidentHandler(
            program: place.program(
                place.script("exec 9> alive; echo up >&9; sleep 86400"), calls: [.willFinishLaunching]),
            runner: place.runner())
        let asking = Task { try await handler.ask(call(1)) }
        try await alive.first { $0 == "up" }
        await handler.stop()
        await #expect(throws: CancellationError.self) { try await asking.value }
        try await place.end(of: "alive", alive)
    }

    @Test("one with nothing to do comes to the end of its input, leaves by itself, and is started again when needed")
    func idle() async throws {
        let place = HookFolder()
        let (handler, alive) = resident(
            place, "say('yes')", idleTime: .milliseconds(1), grace: .seconds(30))
        // After the loop the handler has reached the end of its input.
        let path = place.folder / "hook.py"
        let script = try String(contentsOfFile: path, encoding: .utf8)
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.seekToEnd()
        try file.write(contentsOf: Data("alive.write('end of input\\n')\nalive.flush()\n".utf8))
        try file.close()
        #expect(script.hasSuffix("say('yes')\n"))
        #expect(try await handler.ask(call(1)).answer == .yes)
        try await alive.first { $0 == "end of input" }
        try await place.end(of: "alive", alive)
        let again = place.listen(to: "alive")
        #expect(try await handler.ask(call(2)).answer == .yes)
        #expect(await handler.notBefore == nil)
        await handler.stop()
        try await place.end(of: "alive", again)
        #expect(place.scratchNames.isEmpty)
    }

    @Test("one with nothing to do that does not leave is ended with all it has started")
    func stubbornIdle() async throws {
        let place = HookFolder()
        place.makePipe("alive")
        let alive = place.listen(to: "alive")
        let script = place.script(
            #"""
            trap '' TERM; exec 9> alive; echo up >&9; read -r l; echo '{"answer":"yes"}'
            while :; do sleep 86400; done
            """#)
        let handler = ResidentHandler(
            program: place.program(script), runner: place.runner(grace: .milliseconds(10)), idleTime: .milliseconds(1))
        #expect(try await handler.ask(call(1)).answer == .yes)
        try await place.end(of: "alive", alive)
        await handler.stop()
    }

    @Test("a program that cannot be started has failed with the reason", arguments: [SandboxPlan.Level.none, .strict])
    func notStarted(sandbox: SandboxPlan.Level) async throws {
        let place = HookFolder()
        let handler = ResidentHandler(
            program: place.program(place.folder / "missing", sandbox: sandbox), runner: place.runner())
        let outcome = try await handler.ask(call(1))
        #expect(outcome.answer == .failed)
        #expect(outcome.reason == "\(place.folder / "missing") does not exist")
        await handler.stop()
        #expect(place.scratchNames.isEmpty)
    }
}
