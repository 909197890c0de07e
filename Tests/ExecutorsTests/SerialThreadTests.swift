import Dispatch
import Synchronization
import Testing

@testable import Executors

@Suite("A thread that does one thing after the other", .timeLimit(.minutes(1)))
struct SerialThreadTests {
    @Test("does them in the order in which they came, and has done all when it is drained")
    func order() {
        let thread = SerialThread(name: "waft-test")
        let done = Done()
        for round in 1...50 {
            for number in 0..<100 { thread.enqueue { done.add(round * 100 + number) } }
            // The thread sleeps after some of these jobs.
            thread.drain()
            #expect(done.all.count == round * 100)
        }
        #expect(done.all == Array(100..<5_100))
    }

    @Test("a running closure delays no caller that adds more")
    func waiting() async {
        let thread = SerialThread(name: "waft-test")
        let (finished, continuation) = AsyncStream<Void>.makeStream()
        let gate = DispatchSemaphore(value: 0)
        thread.enqueue { gate.wait() }
        for _ in 0..<1_000 { thread.enqueue {} }
        thread.enqueue { continuation.finish() }
        gate.signal()
        for await _ in finished {}
    }

    @Test("while no thread can be started the callers do the work, in order")
    func noThread() {
        let thread = SerialThread(name: "waft-test") { _, _ in false }
        let done = Done()
        for number in 0..<100 { thread.enqueue { done.add(number) } }
        thread.drain()
        #expect(done.all == Array(0..<100))
    }

    private final class Done: Sendable {
        private let numbers = Mutex<[Int]>([])

        func add(_ number: Int) { numbers.withLock { $0.append(number) } }

        var all: [Int] { numbers.withLock { $0 } }
    }
}
