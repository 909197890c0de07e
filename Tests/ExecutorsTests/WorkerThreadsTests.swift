import Foundation
import Synchronization
import Testing

@testable import Executors

@Suite("Threads that work for a program", .timeLimit(.minutes(1)))
struct WorkerThreadsTests {
    /// Tasks that prefer this one run on the threads.
    private final class Preferred: TaskExecutor {
        let workers: WorkerThreads

        init(_ workers: WorkerThreads) { self.workers = workers }

        func enqueue(_ job: consuming ExecutorJob) {
            workers.enqueue(Work(job: UnownedJob(job), place: .preferred(asUnownedTaskExecutor())))
        }
    }

    private func executor(usual: Int, most: Int) throws -> Preferred {
        let timekeeper: Timekeeper = try #require(Timekeeper(clock: CLOCK_BOOTTIME))
        return Preferred(WorkerThreads(usual: usual, most: most, timekeeper: timekeeper))
    }

    private func block(on gate: DispatchSemaphore) { gate.wait() }

    @Test("another one begins when all that work are blocked, again and again")
    func blocked() async throws {
        let executor = try executor(usual: 2, most: 10)
        for _ in 0..<3 {
            let gate = DispatchSemaphore(value: 0)
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<9 { group.addTask(executorPreference: executor) { block(on: gate) } }
                group.addTask(executorPreference: executor) { for _ in 0..<9 { gate.signal() } }
            }
        }
    }

    @Test("never more than the most, however many are blocked, and all get their turn")
    func most() async throws {
        let executor = try executor(usual: 1, most: 3)
        let (gate, third) = (DispatchSemaphore(value: 0), AsyncStream<Void>.makeStream())
        let counts = Counts()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<10 {
                group.addTask(executorPreference: executor) {
                    if counts.begin() == 3 { third.continuation.finish() }
                    block(on: gate)
                    counts.end()
                }
            }
            for await _ in third.stream {}
            for _ in 0..<10 { gate.signal() }
        }
        #expect(counts.most == 3)
        #expect(counts.ended == 10)
    }

    private final class Counts: Sendable {
        private let state = Mutex((now: 0, most: 0, ended: 0))

        func begin() -> Int {
            state.withLock {
                $0.now += 1
                $0.most = max($0.most, $0.now)
                return $0.now
            }
        }

        func end() {
            state.withLock {
                $0.now -= 1
                $0.ended += 1
            }
        }

        var most: Int { state.withLock { $0.most } }
        var ended: Int { state.withLock { $0.ended } }
    }
}
