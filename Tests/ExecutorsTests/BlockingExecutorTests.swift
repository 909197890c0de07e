import Foundation
import Synchronization
import Testing

@testable import Executors

@Suite("Threads that may block", .timeLimit(.minutes(1)))
struct BlockingExecutorTests {
    /// Holds all threads until a number of them has come.
    private final class Gate: @unchecked Sendable {
        private let condition = NSCondition()
        private var missing: Int

        init(of count: Int) { missing = count }

        func pass() {
            condition.lock()
            missing -= 1
            condition.broadcast()
            while missing > 0 { condition.wait() }
            condition.unlock()
        }
    }

    /// The numbers of tasks that run, that ran at most, and that have ended.
    private final class Counts: Sendable {
        let counts = Mutex((now: 0, most: 0, done: 0))
    }

    @Test("while no thread can be started, tasks that prefer it run all the same")
    func noThread() async {
        let executor = BlockingExecutor(threads: 2) { _, _ in false }
        let sum = await withTaskGroup(of: Int.self) { group in
            for number in 1...100 {
                group.addTask(executorPreference: executor) {
                    await Task.yield()
                    return number
                }
            }
            return await group.reduce(0, +)
        }
        #expect(sum == 5_050)
    }

    @Test("tasks that prefer it run, as many at a time as it has threads")
    func runs() async {
        let executor = BlockingExecutor(threads: 2)
        let sum = await withTaskGroup(of: Int.self) { group in
            for number in 1...100 {
                group.addTask(executorPreference: executor) {
                    await Task.yield()
                    return number
                }
            }
            return await group.reduce(0, +)
        }
        #expect(sum == 5_050)
    }

    @Test("as many tasks as there are threads may block at the same time")
    func parallel() async {
        let executor = BlockingExecutor(threads: 4)
        // Again with the same threads.
        for _ in 0..<3 {
            let gate = Gate(of: 4)
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<4 { group.addTask(executorPreference: executor) { gate.pass() } }
            }
        }
    }

    @Test("no more tasks run than there are threads, and all of them do", arguments: [1, 3])
    func bounded(threads: Int) async {
        let executor = BlockingExecutor(threads: threads)
        let running = Counts()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<200 {
                group.addTask(executorPreference: executor) {
                    for _ in 0..<5 {
                        running.counts.withLock {
                            $0.now += 1
                            $0.most = max($0.most, $0.now)
                        }
                        sched_yield()
                        running.counts.withLock {
                            $0.now -= 1
                            $0.done += 1
                        }
                        await Task.yield()
                    }
                }
            }
        }
        #expect(running.counts.withLock { $0.done } == 1_000)
        #expect(running.counts.withLock { $0.most } <= threads)
    }
}
