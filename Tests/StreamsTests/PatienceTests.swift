import Streams
import Testing

@Suite("A wait that is mostly cancelled")
struct PatienceTests {
    @Test("it ends when its time is over, also at a time that has passed")
    func time() async {
        for time in [Duration.seconds(-1), .zero, .milliseconds(1)] { await Patience.wait(for: time) }
    }

    @Test("it ends when its task is cancelled: before it begins, and while it waits")
    func cancelled() async {
        let started = AsyncStream<Void>.makeStream()
        let waiting = Task {
            started.continuation.yield()
            await Patience.wait(for: .seconds(1_000_000))
        }
        for await _ in started.stream { break }
        waiting.cancel()
        await waiting.value
        let late = Task {
            while !Task.isCancelled { await Task.yield() }
            await Patience.wait(for: .seconds(1_000_000))
        }
        late.cancel()
        await late.value
    }
}
