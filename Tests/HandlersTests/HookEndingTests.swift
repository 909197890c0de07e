import Foundation
import Handlers
import HookSandbox
import Sharing
import TestSupport
import Testing

@Suite("How a hook is ended", .timeLimit(.minutes(1)))
struct HookEndingTests {
    private func run(
        _ place: HookFolder, _ body: String, grace: Duration = .milliseconds(500), sandbox: SandboxPlan.Level = .none
    ) async throws -> AttemptOutcome {
        let program = place.program(place.script(body), timeLimit: .seconds(1), sandbox: sandbox)
        return try await place.runner(grace: grace).run(program, .open(.sample(), attempt: 1))
    }

    @Test(
        "a hook that is out of time is ended with the processes it has started, and asked again later",
        arguments: [SandboxPlan.Level.none, .strict])
    func timeLimit(sandbox: SandboxPlan.Level) async throws {
        let place = HookFolder()
        place.makePipe("alive")
        let alive = place.listen(to: "alive")
        // Each process of the group holds the pipe, so the pipe ends with the last process.
        let body = "exec 9> alive; echo up >&9; echo halfway >&2; sleep 86400 & sleep 86400"
        let outcome = try await run(place, body, sandbox: sandbox)
        #expect(outcome.answer == .later)
        #expect(outcome.reason == "out of time after 1.0 seconds")
        // Empty if the machine was too busy for the hook to print it.
        #expect(["halfway\n", ""].contains(outcome.standardError))
        try await place.end(of: "alive", alive)
        #expect(place.scratchNames.isEmpty)
    }

    @Test("a child that ignores being asked is ended too, when the hook itself has left")
    func stubbornChild() async throws {
        let place = HookFolder()
        place.makePipe("alive")
        let alive = place.listen(to: "alive")
        let body = "exec 9> alive; (trap '' TERM; echo up >&9; while :; do sleep 86400; done) & wait"
        #expect(try await run(place, body).answer == .later)
        try await place.end(of: "alive", alive)
    }

    @Test("a child that is asked to leave has its time for it, even when the hook itself has left")
    func childWithGrace() async throws {
        let place = HookFolder()
        place.makePipe("alive")
        place.makePipe("gate")
        let alive = place.listen(to: "alive")
        // The child continues after the request to end, and reports it.
        let body =
            "exec 9> alive; (trap 'read x < gate; echo tidy >&9; exit' TERM; sleep 86400 & echo up >&9; "
            + "while :; do wait; done) & wait"
        place.release("gate")
        let program = place.program(place.script(body))
        let runner = place.runner(grace: .seconds(30))
        let call = Task { try await runner.run(program, .open(.sample(), attempt: 1)) }
        try await alive.first { $0 == "up" }
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        try await alive.first { $0 == "tidy" }
        try await place.end(of: "alive", alive)
    }

    @Test("a hook that ignores being asked is ended when its grace is over")
    func stubbornHook() async throws {
        let place = HookFolder()
        place.makePipe("alive")
        let alive = place.listen(to: "alive")
        let body = "trap '' TERM; exec 9> alive; echo up >&9; while :; do sleep 86400; done"
        #expect(try await run(place, body, grace: .milliseconds(10)).answer == .later)
        try await place.end(of: "alive", alive)
    }

    @Test("a call that is cancelled ends the hook and all it has started, and counts for nothing")
    func cancelled() async throws {
        let place = HookFolder()
        place.makePipe("alive")
        let alive = place.listen(to: "alive")
        let program = place.program(
            place.script("trap '' TERM; exec 9> alive; echo up >&9; sleep 86400 & while :; do sleep 86400; done"))
        let runner = place.runner(grace: .milliseconds(10))
        let call = Task { try await runner.run(program, .open(.sample(), attempt: 1)) }
        try await alive.first { $0 == "up" }
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        try await place.end(of: "alive", alive)
        #expect(place.scratchNames.isEmpty)
    }

    @Test("a call that is cancelled before it begins starts nothing")
    func cancelledBefore() async throws {
        let place = HookFolder()
        let program = place.program(place.script("touch ran"))
        let runner = place.runner()
        let call = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await runner.run(program, .open(.sample(), attempt: 1))
        }
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(place.folder.names == ["hook"])
    }

    @Test("a process that a hook leaves running on purpose, in time, is left alone")
    func daemonized() async throws {
        let place = HookFolder()
        place.makePipe("alive")
        place.makePipe("gate")
        let alive = place.listen(to: "alive")
        let outcome = try await place.run("exec 9> alive; (read line < gate; echo still here >&9) & exit 0")
        #expect(outcome.answer == .yes)
        place.release("gate")
        #expect(try await alive.first() == "still here")
        try await place.end(of: "alive", alive)
    }

    @Test("twenty hooks at once, each with its own answer")
    func many() async throws {
        let place = HookFolder()
        let program = place.program(place.script("exit $WAFT_ATTEMPT"))
        let runner = place.runner()
        try await withThrowingTaskGroup(of: (Int, AttemptOutcome).self) { group in
            for number in 2..<22 {
                group.addTask { (number, try await runner.run(program, .open(.sample(), attempt: number))) }
            }
            for try await (number, outcome) in group { #expect(outcome.exitCode == number) }
        }
        #expect(place.scratchNames.isEmpty)
    }
}
