import Testing

@testable import Desktop

@Suite("The events of a lock that wait", .timeLimit(.minutes(1)))
struct LockEventQueueTests {
    private func taken(_ events: [LockEvent]) async -> [LockEvent] {
        let queue = LockEventQueue()
        for event in events { queue.post(event) }
        // It is behind all others.
        queue.post(.locked(.screenSaver))
        var taken: [LockEvent] = []
        while let event = await queue.next(), event != .locked(.screenSaver) { taken.append(event) }
        return taken
    }

    @Test("come in their order, and equal ones once")
    func order() async {
        #expect(await taken([.locked(.screen), .locked(.sleep)]) == [.locked(.screen), .locked(.sleep)])
        #expect(
            await taken([.locked(.sleep), .locked(.screen), .locked(.sleep)]) == [.locked(.screen), .locked(.sleep)])
        #expect(await taken([.lost(.bus), .back]) == [.lost(.bus), .back])
    }

    @Test("lose a hint that came before a lock or a loss, and no other")
    func hints() async {
        #expect(await taken([.unlockedHint, .locked(.screen)]) == [.locked(.screen)])
        #expect(await taken([.lost(.bus), .back, .unlockedHint, .lost(.logind)]) == [.lost(.bus), .lost(.logind)])
        #expect(await taken([.locked(.screen), .back]) == [.locked(.screen), .back])
    }

    @Test("end when the task is cancelled")
    func cancelled() async {
        let queue = LockEventQueue()
        let waiting = Task { await queue.next() }
        waiting.cancel()
        #expect(await waiting.value == nil)
    }
}
