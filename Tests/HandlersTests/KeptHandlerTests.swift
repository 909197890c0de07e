import Foundation
import HandlerCatalog
import Sharing
import TestSupport
import Testing

@testable import Handlers

@Suite("A resident handler that keeps running", .timeLimit(.minutes(1)))
struct KeptHandlerTests {
    /// A handler that holds the pipe `alive`, and runs `body` in `/bin/sh` with it.
    private func kept(
        withPipeIn place: HookFolder, _ body: String, wait: Duration = .milliseconds(20)
    ) -> (handler: ResidentHandler, alive: Recorder<String?>) {
        place.makePipe("alive")
        let alive = place.listen(to: "alive")
        var program = place.program(place.script("exec 9>alive; echo up >&9\n" + body), mode: .resident)
        program.keepsRunning = true
        let handler = ResidentHandler(
            program: program, runner: place.runner(), idleTime: .milliseconds(1), firstWait: wait, longestWait: wait * 4
        )
        return (handler, alive)
    }

    private static let answering = #"while read line; do echo '{"answer":"yes"}'; done"#

    @Test("is started without a question, answers, and is not ended when nothing arrives")
    func starts() async throws {
        let place = HookFolder()
        let (handler, alive) = kept(withPipeIn: place, Self.answering)
        await handler.keep()
        try await alive.first { $0 == "up" }
        for number in 1...2 {
            #expect(try await handler.ask(.open(.sample(number: Int64(number)), attempt: 1)).answer == .yes)
            // Many times its idle time.
            try await Task.sleep(for: .milliseconds(50))
        }
        await handler.keep()
        #expect(await handler.isRunning)
        await handler.stop()
        try await place.end(of: "alive", alive)
        #expect(alive.all == ["up", nil])
    }

    // A pipe ends with its first writer, so these handlers have files.

    @Test("is started again after a failure, after a while")
    func fails() async throws {
        let place = HookFolder()
        // It works from the third time on.
        let handler = kept(place, "echo x >>times; [ $(wc -l <times) -ge 3 ] || exit 3; touch works; " + Self.answering)
        let start = ContinuousClock.now
        await handler.keep()
        while place.text("works") == nil { try await Task.sleep(for: .milliseconds(5)) }
        #expect(ContinuousClock.now - start >= .milliseconds(60))
        #expect(place.text("times") == "x\nx\nx\n")
        await handler.stop()
    }

    @Test("is started again only for the next item when it has left with 0")
    func leaves() async throws {
        let place = HookFolder()
        let handler = kept(place, "[ -e second ] || { touch second; exit 0; }; " + Self.answering)
        await handler.keep()
        while await handler.isRunning { try await Task.sleep(for: .milliseconds(5)) }
        await handler.keep()
        #expect(await !handler.isRunning)
        #expect(try await handler.ask(.open(.sample(number: 1), attempt: 1)).answer == .yes)
        await handler.stop()
    }

    private func kept(_ place: HookFolder, _ body: String) -> ResidentHandler {
        var program = place.program(place.script(body), mode: .resident)
        program.keepsRunning = true
        return ResidentHandler(
            program: program, runner: place.runner(), firstWait: .milliseconds(20), longestWait: .milliseconds(80))
    }

    @Test("is ended when its bundle is no longer among those that stay")
    func dropped() async throws {
        let place = HookFolder()
        place.makePipe("alive")
        let alive = place.listen(to: "alive")
        var program = place.program(place.script("exec 9>alive; echo up >&9\n" + Self.answering), mode: .resident)
        program.keepsRunning = true
        let calls = HandlerCalls(runner: place.runner())
        await calls.keep([program])
        try await alive.first { $0 == "up" }
        await calls.keep([])
        try await place.end(of: "alive", alive)
        await calls.stop()
    }
}
