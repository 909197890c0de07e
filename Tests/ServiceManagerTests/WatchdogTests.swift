import Synchronization
import TestSupport
import Testing

@testable import ServiceManager

@Suite("The watchdog", .timeLimit(.minutes(1)))
struct WatchdogTests {
    @Test("speaks only after every part has answered since the last time, and goes on when a blocked one answers again")
    func blocked() async throws {
        let (alive, silent, asked) = (Recorder<Void>(), Recorder<[String]>(), Recorder<Void>())
        let isBlocking = Mutex(false)
        let (gate, rounds) = (Gate(), Rounds())
        let parts = [
            Watchdog.Part("loop") { asked.record(()) },
            Watchdog.Part("journal") {
                if isBlocking.withLock({ $0 }) { await gate.wait() }
            },
        ]
        let watchdog = Watchdog(every: .seconds(1), parts, pause: rounds.pause) {
            alive.record(())
        } silent: {
            silent.record($0)
        }
        let task = Task { await watchdog.run() }
        try await alive.element(1)
        try await rounds.next()
        try await alive.element(2)
        isBlocking.withLock { $0 = true }
        try await rounds.next()
        while watchdog.unanswered != ["journal"] { try await Task.sleep(for: .milliseconds(1)) }
        // The part that works is not asked either: the round goes on.
        for _ in 0..<3 { try await rounds.next() }
        #expect(silent.all == [["journal"]])
        #expect(alive.count == 2)
        #expect(asked.count == 3)
        gate.open()
        try await alive.element(3)
        try await rounds.next()
        try await alive.element(4)
        task.cancel()
        await task.value
    }
}
