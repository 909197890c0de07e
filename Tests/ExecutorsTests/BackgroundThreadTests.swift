import Foundation
import Glibc
import Synchronization
import Testing

@testable import Executors

@Suite("A thread of Waft's own", .timeLimit(.minutes(1)))
struct BackgroundThreadTests {
    private struct Facts: Sendable {
        var name = ""
        var blocked: UInt64 = 0

        /// Those of the calling thread.
        static func ofThisThread() throws -> Facts {
            var facts = Facts()
            for line in try String(contentsOfFile: "/proc/thread-self/status", encoding: .utf8).split(separator: "\n") {
                let words = line.split(separator: "\t").map(String.init)
                guard words.count == 2 else { continue }
                if words[0] == "Name:" { facts.name = words[1] }
                if words[0] == "SigBlk:" { facts.blocked = try #require(UInt64(words[1], radix: 16)) }
            }
            return facts
        }

        func blocks(_ signal: Int32) -> Bool { blocked & 1 << (signal - 1) != 0 }
    }

    @Test("has its name, and blocks all signals but those of its own work")
    func begins() async throws {
        let (results, feed) = AsyncStream<Result<Facts, any Error>>.makeStream()
        let isStarted = BackgroundThread.start("waft-test") {
            feed.yield(Result { try Facts.ofThisThread() })
            feed.finish()
        }
        try #require(isStarted)
        var iterator = results.makeAsyncIterator()
        let facts = try #require(await iterator.next()).get()
        #expect(facts.name == "waft-test")
        for signal in [SIGHUP, SIGINT, SIGTERM, SIGCHLD, SIGUSR1, SIGALRM] { #expect(facts.blocks(signal)) }
        for signal in [SIGSEGV, SIGABRT, SIGTTIN, SIGTTOU] { #expect(!facts.blocks(signal)) }
    }

    @Test("leaves the signals of the thread that starts it as they were")
    func mask() throws {
        let before = try Facts.ofThisThread()
        let done = DispatchSemaphore(value: 0)
        try #require(BackgroundThread.start("waft-test") { done.signal() })
        done.wait()
        #expect(try Facts.ofThisThread().blocked == before.blocked)
    }

    @Test("gives its result to the task that waits for it, and blocks no thread of tasks meanwhile")
    func result() async throws {
        let semaphore = Semaphore()
        // More of them than the pool has threads.
        let threads = try await withThrowingTaskGroup(of: pthread_t.self) { group in
            for _ in 0..<64 {
                group.addTask {
                    let thread = await BackgroundThread.run("waft-test") {
                        semaphore.wait()
                        return pthread_self()
                    }
                    return try #require(thread)
                }
            }
            for _ in 0..<64 { semaphore.signal() }
            return try await group.reduce(into: Set<pthread_t>()) { $0.insert($1) }
        }
        #expect(!threads.isEmpty)
    }

    @Test("sees that its task was cancelled")
    func cancelled() async {
        let (begun, seen) = (Semaphore(), Semaphore())
        let task = Task {
            await BackgroundThread.run("waft-test") {
                begun.signal()
                seen.wait()
                return Task.isCancelled
            }
        }
        await BackgroundThread.run("waft-test") { begun.wait() }
        task.cancel()
        seen.signal()
        #expect(await task.value == true)
    }
}
