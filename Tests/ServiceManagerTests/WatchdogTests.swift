import TestSupport
import Testing

@testable import ServiceManager

@Suite("The watchdog", .timeLimit(.minutes(1)))
struct WatchdogTests {
    @Test("speaks only after every part has answered since the last time, and goes on when a blocked one answers again")
    func blocked() async throws {
        let (alive, silent, asked) = (Recorder<Void>(), Recorder<[String]>(), Recorder<Void>())
        let gate = Gate()
        let parts = [
            Watchdog.Part("loop") { asked.record(()) },
            Watchdog.Part("journal") {
                // From the third round on it is blocked.
                if asked.count >= 3 { await gate.wait() }
            },
        ]
        let watchdog = Watchdog(every: .milliseconds(20), parts) {
            alive.record(())
        } silent: {
            silent.record($0)
        }
        let task = Task { await watchdog.run() }
        #expect(try await silent.first() == ["journal"])
        let spoken = alive.count
        #expect((1...3).contains(spoken))
        // The part that works is not asked either: the round goes on.
        let rounds = asked.count
        try await Task.sleep(for: .milliseconds(100))
        #expect(alive.count == spoken)
        #expect(asked.count == rounds)
        #expect(silent.count == 1)
        gate.open()
        try await alive.element(spoken + 2)
        task.cancel()
        await task.value
    }
}
