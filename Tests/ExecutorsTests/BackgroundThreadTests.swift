import Executors
import Glibc
import Testing

@Suite("A thread for one piece of work", .timeLimit(.minutes(1)))
struct BackgroundThreadTests {
    @Test("a task that waits for it gets its result, and blocks no thread of tasks meanwhile")
    func result() async throws {
        let semaphore = Semaphore()
        // More of them than the pool has threads.
        let threads = try await withThrowingTaskGroup(of: pthread_t.self) { group in
            for _ in 0..<64 {
                group.addTask {
                    let thread = await BackgroundThread.run {
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

    @Test("it sees that its task was cancelled")
    func cancelled() async {
        let (begun, seen) = (Semaphore(), Semaphore())
        let task = Task {
            await BackgroundThread.run {
                begun.signal()
                seen.wait()
                return Task.isCancelled
            }
        }
        await BackgroundThread.run { begun.wait() }
        task.cancel()
        seen.signal()
        #expect(await task.value == true)
    }
}
