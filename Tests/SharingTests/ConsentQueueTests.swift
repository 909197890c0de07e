import Sharing
import TestSupport
import Testing

@Suite("Offers that wait for consent", .timeLimit(.minutes(1)))
struct ConsentQueueTests {
    private let me = PeerID.sample(1)

    /// The events of a watcher, as words.
    private func watch(_ queue: ConsentQueue) -> Recorder<String> {
        let seen = Recorder<String>()
        let events = queue.events()
        Task {
            for await event in events {
                switch event {
                case .waiting(let offer): seen.record("waiting \(offer.number)")
                case .settled(let number, _): seen.record("settled \(number)")
                }
            }
        }
        return seen
    }

    @Test("with the rule everyone each item is accepted without a question")
    func everyone() async throws {
        let queue = ConsentQueue(rule: .everyone)
        #expect(await queue.consent(to: .sample(items: 3), from: me, freeRoom: 1) == [.accepted, .accepted, .accepted])
        #expect(queue.offers.isEmpty)
    }

    @Test("with the rule none each item is declined without a question")
    func none() async throws {
        let answers = await ConsentQueue(rule: .none).consent(to: .sample(items: 2), from: me, freeRoom: 1)
        #expect(answers.map(\.answer) == [.declined, .declined])
    }

    @Test("an acceptance names the items, and the folder")
    func answeredInto() async throws {
        let queue = ConsentQueue(rule: .ask)
        let seen = watch(queue)
        let folder = try SafeRelativePath("Photos")
        async let some = queue.consent(to: .sample(items: 2), from: me, freeRoom: 1)
        try await seen.first { $0 == "waiting 1" }
        #expect(queue.answer(1, accepting: [1], into: folder))
        #expect(await some.map(\.answer) == [.declined, .accepted])
        #expect(await some.map(\.destination.folder) == [nil, folder])
        async let all = queue.consent(to: .sample(items: 2), from: me, freeRoom: 1)
        try await seen.first { $0 == "waiting 2" }
        #expect(queue.answer(2, accepting: nil, into: folder))
        #expect(await all.map(\.destination.folder) == [folder, folder])
    }

    @Test("an offer waits until it is answered, with all facts for the answer")
    func answered() async throws {
        let queue = ConsentQueue(rule: .ask)
        let seen = watch(queue)
        let offer = Offer.sample(items: 2)
        async let answers = queue.consent(to: offer, from: me, freeRoom: 77)
        try await seen.first { $0 == "waiting 1" }
        let waiting = try #require(queue.offers.first)
        #expect((waiting.number, waiting.peer, waiting.freeRoom) == (1, me, 77))
        #expect(waiting.offer.transfer == offer.transfer)
        #expect(queue.answer(1, accept: true))
        #expect(await answers == [.accepted, .accepted])
        #expect(queue.offers.isEmpty)
        try await seen.first { $0 == "settled 1" }
    }

    @Test("the first answer wins")
    func firstAnswer() async throws {
        let queue = ConsentQueue(rule: .ask)
        let seen = watch(queue)
        async let answers = queue.consent(to: .sample(), from: me, freeRoom: 1)
        try await seen.first { $0 == "waiting 1" }
        #expect(queue.answer(1, accept: false))
        #expect(!queue.answer(1, accept: true))
        #expect(await answers.map(\.answer) == [.declined])
    }

    @Test("of many simultaneous answers one counts")
    func manyAnswers() async throws {
        let queue = ConsentQueue(rule: .ask)
        let seen = watch(queue)
        async let answers = queue.consent(to: .sample(), from: me, freeRoom: 1)
        try await seen.first { $0 == "waiting 1" }
        let heard = await withTaskGroup(of: Bool?.self) { group in
            for number in 0..<64 {
                let accept = number.isMultiple(of: 2)
                group.addTask { queue.answer(1, accept: accept) ? accept : nil }
            }
            var heard: [Bool] = []
            for await answer in group { if let answer { heard.append(answer) } }
            return heard
        }
        #expect(heard.count == 1)
        #expect(await answers.map(\.answer) == [heard.first == true ? .accepted : .declined])
    }

    @Test("an answer to an unknown offer is ignored")
    func unknown() {
        let queue = ConsentQueue(rule: .ask)
        for number in [0, 1, -1, Int.max] { #expect(!queue.answer(number, accept: true)) }
    }

    @Test("a withdrawn offer vanishes for all watchers")
    func withdrawn() async throws {
        let queue = ConsentQueue(rule: .ask)
        let watchers = [watch(queue), watch(queue)]
        let me = self.me
        let task = Task { await queue.consent(to: .sample(), from: me, freeRoom: 1) }
        for watcher in watchers { try await watcher.first { $0 == "waiting 1" } }
        task.cancel()
        #expect(await task.value.map(\.answer) == [.expired])
        for watcher in watchers { try await watcher.first { $0 == "settled 1" } }
        #expect(queue.offers.isEmpty)
        #expect(!queue.answer(1, accept: true))
    }

    @Test("an offer that is cancelled before it is entered does not stay")
    func cancelledBefore() async throws {
        let queue = ConsentQueue(rule: .ask)
        let me = self.me
        let cancelled = Gate()
        let task = Task {
            await cancelled.wait()
            return await queue.consent(to: .sample(), from: me, freeRoom: 1)
        }
        task.cancel()
        cancelled.open()
        #expect(await task.value.map(\.answer) == [.expired])
        #expect(queue.offers.isEmpty)
    }

    @Test("cancelling at any moment ends the wait and leaves nothing", arguments: 0..<8)
    func cancelledAnyTime(round: Int) async throws {
        let queue = ConsentQueue(rule: .ask)
        let me = self.me
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                let task = Task { await queue.consent(to: .sample(), from: me, freeRoom: 1) }
                group.addTask { task.cancel() }
                group.addTask { #expect(await task.value.map(\.answer) == [.expired]) }
            }
        }
        #expect(queue.offers.isEmpty)
    }

    @Test("a late watcher sees the waiting offers, and each offer once")
    func lateWatcher() async throws {
        let queue = ConsentQueue(rule: .ask)
        let first = watch(queue)
        let me = self.me
        let tasks = (0..<3).map { _ in Task { await queue.consent(to: .sample(), from: me, freeRoom: 1) } }
        try await first.element(3)
        let late = watch(queue)
        try await late.element(3)
        for number in 1...3 { queue.answer(number, accept: true) }
        for task in tasks { _ = await task.value }
        try await late.element(6)
        #expect(late.all == ["waiting 1", "waiting 2", "waiting 3", "settled 1", "settled 2", "settled 3"])
    }

    @Test("no watcher gets the end of an offer before its beginning", arguments: 0..<20)
    func order(round: Int) async throws {
        let queue = ConsentQueue(rule: .ask)
        let seen = watch(queue)
        let me = self.me
        await withTaskGroup(of: Void.self) { group in
            for number in 1...40 {
                group.addTask { _ = await queue.consent(to: .sample(), from: me, freeRoom: 1) }
                // Answers as soon as it is there, while it is being announced.
                group.addTask { while !queue.answer(number, accept: true) { await Task.yield() } }
            }
        }
        let last = Task { await queue.consent(to: .sample(), from: me, freeRoom: 1) }
        try await seen.first { $0 == "waiting 41" }
        for number in 1...40 {
            let own = seen.all.filter { $0.hasSuffix(" \(number)") }
            #expect(own == [] || own == ["waiting \(number)", "settled \(number)"])
        }
        queue.answer(41, accept: false)
        _ = await last.value
    }

    @Test("a watcher that stops is forgotten")
    func stopsWatching() async throws {
        let queue = ConsentQueue(rule: .ask)
        let me = self.me
        let left = Gate()
        let watcher = Task {
            for await _ in queue.events() { break }
            left.open()
        }
        let seen = watch(queue)
        let task = Task { await queue.consent(to: .sample(), from: me, freeRoom: 1) }
        await left.wait()
        try await seen.element(1)
        queue.answer(1, accept: true)
        _ = await (task.value, watcher.value)
    }

    @Test(
        "a watcher that does not read keeps no offer in memory that is over, and hears how the one ended that it has shown"
    )
    func slow() async throws {
        let queue = ConsentQueue(rule: .ask)
        let me = self.me
        let seen = watch(queue)
        var events = queue.events().makeAsyncIterator()
        for number in 1...100 {
            async let answers = queue.consent(to: .sample(), from: me, freeRoom: 1)
            try await seen.first { $0 == "waiting \(number)" }
            if number == 1 {
                guard case .waiting(let offer)? = await events.next() else { throw CancellationError() }
                #expect(offer.number == 1)
            }
            queue.answer(number, accept: true)
            _ = await answers
        }
        let last = Task { await queue.consent(to: .sample(), from: me, freeRoom: 1) }
        try await seen.first { $0 == "waiting 101" }
        guard case .settled(1, _)? = await events.next(), case .waiting(let shown)? = await events.next() else {
            Issue.record("other events")
            return
        }
        #expect(shown.number == 101)
        queue.answer(101, accept: false)
        guard case .settled(101, wasAnswered: true)? = await events.next() else {
            Issue.record("another event")
            return
        }
        _ = await last.value
    }
}
