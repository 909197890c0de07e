import Testing

@testable import Streams

@Suite("A broadcast", .timeLimit(.minutes(1)))
struct BroadcastTests {
    private func all(_ stream: AsyncStream<Int>) async -> [Int] { await stream.reduce(into: []) { $0.append($1) } }

    @Test("a watcher gets its first elements, and then each element that is sent while it watches")
    func elements() async {
        let broadcast = Broadcast<Int>(buffer: .unbounded)
        broadcast.send(1)
        let early = broadcast.watch()
        broadcast.send(2)
        let late = broadcast.watch(after: [10, 11])
        broadcast.send(3)
        broadcast.end()
        broadcast.send(4)
        #expect(await all(early) == [2, 3])
        #expect(await all(late) == [10, 11, 3])
    }

    @Test("a watcher that does not read delays neither the sender nor the others, and keeps the newest elements")
    func slow() async {
        let broadcast = Broadcast<Int>(buffer: .bufferingNewest(2))
        let (slow, fast) = (broadcast.watch(), broadcast.watch())
        var reader = fast.makeAsyncIterator()
        for number in 1...100 {
            broadcast.send(number)
            let read = await reader.next()
            #expect(read == number)
        }
        broadcast.end()
        #expect(await all(slow) == [99, 100])
    }

    @Test("a stream that is dropped, or whose task is cancelled, watches no more")
    func leaving() async {
        let broadcast = Broadcast<Int>(buffer: .bufferingNewest(1))
        withExtendedLifetime(broadcast.watch()) { #expect(broadcast.watcherCount == 1) }
        #expect(broadcast.watcherCount == 0)
        let stream = broadcast.watch()
        let reader = Task { for await _ in stream {} }
        reader.cancel()
        await reader.value
        #expect(broadcast.watcherCount == 0)
    }

    @Test("its end, or its release, ends all streams, also those of later watchers")
    func end() async {
        let broadcast = Broadcast<Int>(buffer: .bufferingNewest(1))
        let stream = broadcast.watch()
        broadcast.end()
        #expect(await all(stream).isEmpty)
        #expect(await all(broadcast.watch()).isEmpty)
        let orphan = Broadcast<Int>(buffer: .bufferingNewest(1)).watch()
        #expect(await all(orphan).isEmpty)
    }
}
