import HandlerCatalog
import Handlers
import HookSandbox
import Sharing
import Synchronization
import TestSupport
import Testing

private let yes = AttemptOutcome(.yes, exitCode: 0)
private let no = AttemptOutcome(.no, exitCode: 1)
private let later = AttemptOutcome(.later, exitCode: 75)

@Suite("Deliveries to handlers", .timeLimit(.minutes(1)))
struct DeliveryEngineTests {
    private let photos = HandlerBundle.sample("photos")

    @Test("an arrival is handed to the handler of its type, and the answer is written down and told")
    func one() async throws {
        let lab = DeliveryLab([photos, .sample("texts", opens: "public.text")])
        let arrival = try lab.arrive()[0]
        try await lab.run { engine in
            lab.deliver([arrival], to: engine)
            try await lab.wait(for: arrival, .yes)
        }
        #expect(lab.caller.calls.all.map(\.candidate.program.identifier) == ["org.example.photos"])
        #expect(lab.answers.all.map(\.1) == [.yes])
        #expect(lab.journal[arrival.number]?.attempts.map(\.outcome?.answer) == [.yes])
        #expect(lab.caller.stops.count == 1)
    }

    @Test("a sender that tries again and again is one follower: the first listener and the latest follower hear")
    func followers() async throws {
        let caller = ScriptedCaller { _ in nil }
        let lab = DeliveryLab([photos], caller: caller)
        let arrival = try lab.arrive()[0]
        let heard = Recorder<Int>()
        try await lab.run { engine in
            lab.deliver([arrival], to: engine)
            for attempt in 1...3 { engine.follow([arrival]) { _, _ in heard.record(attempt) } }
            try await caller.calls.element(1)
            caller.answer(arrival.number, yes)
            try await lab.wait(for: arrival, .yes)
            await engine.ping()
        }
        #expect(heard.all == [3] && lab.answers.all.map(\.1) == [.yes])
    }

    @Test("one handler is asked about one item at a time, in the order of arrival")
    func order() async throws {
        let lab = DeliveryLab([photos])
        let arrivals = try lab.arrive(200)
        try await lab.run { engine in
            lab.deliver(arrivals, to: engine)
            for arrival in arrivals { try await lab.wait(for: arrival, .yes) }
        }
        #expect(lab.caller.calls.all.flatMap(\.numbers) == arrivals.map(\.number))
        #expect(lab.caller.most == 1)
    }

    @Test("several handlers are asked at once, but no more than there are places")
    func places() async throws {
        let types = ["public.png", "public.jpeg", "public.plain-text", "com.adobe.pdf", "public.mp3"]
        let caller = ScriptedCaller { _ in nil }
        let lab = DeliveryLab(types.enumerated().map { .sample("h\($0)", opens: $1) }, caller: caller, places: 3)
        let arrivals = try types.flatMap { try lab.arrive(type: $0) }
        try await lab.run { engine in
            lab.deliver(arrivals, to: engine)
            for count in 1...5 { caller.answer(try await caller.calls.element(count).numbers[0], yes) }
            for arrival in arrivals { try await lab.wait(for: arrival, .yes) }
        }
        #expect(caller.most <= 3)
    }

    @Test("as many handlers as there are places run at the same time")
    func concurrency() async throws {
        let caller = ScriptedCaller { _ in nil }
        let types = ["public.png", "public.jpeg"]
        let lab = DeliveryLab(types.map { .sample(String($0.suffix(3)), opens: $0) }, caller: caller, places: 2)
        let arrivals = try types.flatMap { try lab.arrive(type: $0) }
        try await lab.run { engine in
            lab.deliver(arrivals, to: engine)
            try await caller.calls.element(2)
            for arrival in arrivals { caller.answer(arrival.number, yes) }
            for arrival in arrivals { try await lab.wait(for: arrival, .yes) }
        }
        #expect(caller.most == 2)
    }

    @Test("after a no the next claimant is asked, and after the last the delivery ends with no")
    func refusal() async throws {
        let caller = ScriptedCaller { $0.candidate.program.name == "third" ? yes : no }
        let names = ["first", "second", "third"]
        let bundles = names.enumerated().map { HandlerBundle.sample($1, installed: Int64($0)) }
        let lab = DeliveryLab(bundles, caller: caller)
        let arrival = try lab.arrive()[0]
        try await lab.run { engine in
            lab.deliver([arrival], to: engine)
            try await lab.wait(for: arrival, .yes)
        }
        #expect(caller.calls.all.map(\.candidate.program.name) == names)
        #expect(caller.calls.all.map { $0.items[0].attempt } == [1, 2, 3])
        #expect(lab.answers.all.map(\.1) == [.yes])

        let refusing = DeliveryLab(Array(bundles.prefix(2)), caller: ScriptedCaller { _ in no })
        let other = try refusing.arrive()[0]
        try await refusing.run { engine in
            refusing.deliver([other], to: engine)
            try await refusing.wait(for: other, .no)
        }
        #expect(refusing.answers.all.map(\.1) == [.no])
    }

    @Test(
        "the hook of the configuration is asked after the handlers of the type, and about items that no handler opens")
    func hook() async throws {
        let hook = HandlerProgram(
            identifier: HandlerProgram.hookIdentifier, name: "hook", executable: "/hook", folder: "/", dataFolder: "/x",
            timeLimit: .seconds(60), sandbox: .strict)
        let caller = ScriptedCaller { $0.candidate.program.isConfiguredHook ? yes : no }
        let lab = DeliveryLab([photos], hook: hook, caller: caller)
        let arrivals = try lab.arrive() + lab.arrive(type: "com.adobe.pdf")
        try await lab.run { engine in
            lab.deliver(arrivals, to: engine)
            for arrival in arrivals { try await lab.wait(for: arrival, .yes) }
        }
        let asked = Dictionary(grouping: caller.calls.all, by: { $0.numbers[0] })
            .mapValues { $0.map(\.candidate.program.name) }
        #expect(asked == [arrivals[0].number: ["photos", "hook"], arrivals[1].number: ["hook"]])
    }

    @Test(
        "the handler that a rule names is asked first, then the usual ones; `inbox` means no handler, a missing one no change",
        arguments: [
            ("second", ["second", "first"]), ("SECOND", ["second", "first"]), ("none such", ["first", "second"]),
            ("inbox", []),
        ]
    )
    func chosen(handler: String, asked: [String]) async throws {
        let caller = ScriptedCaller { _ in no }
        let bundles = ["first", "second"].enumerated().map { HandlerBundle.sample($1, installed: Int64($0)) }
        let lab = DeliveryLab(bundles, caller: caller)
        let arrivals = try lab.arrive(to: handler) + lab.arrive()
        #expect(lab.engine.takes(arrivals[0].facts) == !asked.isEmpty)
        try await lab.run { engine in
            lab.deliver(asked.isEmpty ? [arrivals[1]] : arrivals, to: engine)
            try await lab.wait(for: arrivals[1], .no)
            if !asked.isEmpty { try await lab.wait(for: arrivals[0], .no) }
        }
        let calls = caller.calls.all.filter { $0.numbers.contains(arrivals[0].number) }
        #expect(calls.map(\.candidate.program.name) == asked)
    }

    @Test(
        "items wait for a program that is missing without an attempt, and are given to it once it is there again",
        arguments: [true, false])
    func missingProgram(isSeenAtArrival: Bool) async throws {
        let caller = ScriptedCaller()
        let lab = DeliveryLab([photos, .sample("second", installed: 5)], caller: caller)
        let identifier = photos.identifier.text
        caller.missing.withLock { _ = $0.insert(identifier) }
        let waiting = try lab.arrive(2)
        try await lab.run { engine in
            lab.deliver(waiting, to: engine)
            await engine.ping()
            engine.handlersChanged()
            await engine.ping()
            #expect(caller.calls.all.isEmpty, "neither it nor the next handler is asked")
            #expect(lab.answers.all.map(\.1) == [.later, .later], "each sender hears it once")
            caller.missing.withLock { $0 = [] }
            var all = waiting
            if isSeenAtArrival {
                let next = try lab.arrive()
                lab.deliver(next, to: engine)
                all += next
            } else {
                engine.handlersChanged()
            }
            for arrival in all { try await lab.wait(for: arrival, .yes) }
            #expect(caller.calls.all.map { $0.items[0].attempt } == all.map { _ in 1 })
            #expect(caller.calls.all.map(\.numbers[0]) == all.map(\.number))
        }
    }

    @Test("a failure is final: no other handler is asked, and it is kept with its reason")
    func failure() async throws {
        let failed = AttemptOutcome(.failed, exitCode: 3, reason: "exit code 3", standardError: "oh no")
        let lab = DeliveryLab([photos, .sample("second", installed: 5)], caller: ScriptedCaller { _ in failed })
        let arrival = try lab.arrive()[0]
        try await lab.run { engine in
            lab.deliver([arrival], to: engine)
            try await lab.wait(for: arrival, .failed)
        }
        #expect(lab.caller.calls.count == 1)
        #expect(lab.journal[arrival.number]?.attempts.map(\.outcome) == [failed])
        #expect(lab.answers.all.map(\.1) == [.failed])
    }

    // MARK: Later

    @Test(
        "a handler that wants more time is asked after 1 s, 2 s and so on to 10 minutes, then hourly, and parked after a day"
    )
    func backoff() async throws {
        let lab = DeliveryLab([photos], caller: ScriptedCaller { _ in later })
        var waits: [Int64] = []
        let arrival = try lab.arrive()[0]
        try await lab.run { engine in
            lab.deliver([arrival], to: engine)
            var asleep = 0
            while true {
                try await lab.caller.calls.element(waits.count + 1)
                // The engine sleeps, or has parked the delivery.
                _ = try await lab.journal.changes.element((waits.count + 1) * 2)
                if lab.state(arrival) == .parked { break }
                asleep += 1
                let until = try await lab.clock.sleeps.element(asleep)
                let now = Duration.milliseconds(lab.clock.wallTime.milliseconds - ManualClock.start)
                waits.append((until - now).components.seconds)
                lab.clock.advance(by: until - now)
            }
        }
        let doubling = (0..<10).map { Int64(1) << $0 }
        #expect(Array(waits.prefix(12)) == doubling + [600, 3_600])
        #expect(waits.dropFirst(11).allSatisfy { $0 == 3_600 })
        #expect(waits.reduce(0, +) >= 24 * 3_600)
        #expect(waits.dropLast().reduce(0, +) < 24 * 3_600)
        #expect(lab.answers.all.map(\.1).allSatisfy { $0 == .later })
    }

    @Test("a delivery that waits for later does not delay the next ones")
    func noHolding() async throws {
        let caller = ScriptedCaller { $0.items[0].arrival.itemNumber == 0 && $0.items[0].attempt == 1 ? later : yes }
        let lab = DeliveryLab([photos], caller: caller)
        let arrivals = try lab.arrive(3)
        try await lab.run { engine in
            lab.deliver(arrivals, to: engine)
            try await lab.wait(for: arrivals[2], .yes)
            #expect(lab.state(arrivals[0]) == .waiting)
            _ = try await lab.clock.sleeps.first()
            lab.clock.advance(by: .seconds(1))
            try await lab.wait(for: arrivals[0], .yes)
        }
        #expect(caller.calls.all.flatMap(\.numbers) == (arrivals + [arrivals[0]]).map(\.number))
        #expect(lab.answers.all.filter { $0.0 == arrivals[0].number }.map(\.1) == [.later, .yes])
    }

    @Test("a delivery that came due while no engine ran is begun at once")
    func overdue() async throws {
        let lab = DeliveryLab([photos])
        let arrival = try lab.arrive()[0]
        _ = try lab.journal.began([arrival.number], handler: "org.example.photos", at: lab.clock.wallTime)
        let since = lab.clock.wallTime
        let due = WallTime(milliseconds: since.milliseconds + 1_000)
        try lab.journal.ended(
            [arrival.number], later, next: .deferred(until: due, since: since, deferrals: 1), at: since)
        lab.clock.advance(by: .seconds(3_600))
        let second = lab.restarted()
        try await second.run { _ in try await lab.wait(for: arrival, .yes) }
        #expect(second.caller.calls.all.map { $0.items[0].attempt } == [2])
    }

    @Test("if the clock was set back, no handler waits longer than the step that it waits for")
    func clockSetBack() async throws {
        let lab = DeliveryLab([photos])
        let arrival = try lab.arrive()[0]
        let now = lab.clock.wallTime
        let far = WallTime(milliseconds: now.milliseconds + 86_400_000 * 365)
        _ = try lab.journal.began([arrival.number], handler: "org.example.photos", at: now)
        try lab.journal.ended([arrival.number], later, next: .deferred(until: far, since: far, deferrals: 2), at: now)
        let second = lab.restarted()
        try await second.run { _ in
            #expect(try await second.clock.sleeps.first() == .seconds(2))
            lab.clock.advance(by: .seconds(2))
            try await lab.wait(for: arrival, .yes)
        }
    }

    // MARK: Restarts

    @Test("the deliveries that an earlier run left, begun or not, are finished")
    func restart() async throws {
        let lab = DeliveryLab([photos])
        let arrivals = try lab.arrive(3)
        // A call for one of them was under way when the process died.
        _ = try lab.journal.began([arrivals[0].number], handler: "org.example.photos", at: lab.clock.wallTime)
        let second = lab.restarted()
        try await second.run { _ in
            for arrival in arrivals { try await lab.wait(for: arrival, .yes) }
        }
        #expect(second.caller.calls.all.flatMap { $0.items.map(\.attempt) } == [2, 1, 1])
    }

    @Test("when the receiver stops, the handler that runs is ended, and asked again at the next start")
    func stop() async throws {
        let lab = DeliveryLab([photos], caller: ScriptedCaller { _ in nil })
        let arrival = try lab.arrive()[0]
        try await lab.run { engine in
            lab.deliver([arrival], to: engine)
            try await lab.caller.calls.element(1)
        }
        #expect(lab.state(arrival) == .waiting)
        #expect(lab.journal[arrival.number]?.delivery.deferrals == 0)
        let second = lab.restarted()
        try await second.run { _ in try await lab.wait(for: arrival, .yes) }
        #expect(lab.answers.all.isEmpty)
    }

    @Test("an answer that comes while the receiver stops is written down")
    func answerWhileStopping() async throws {
        let lab = DeliveryLab([photos], caller: ScriptedCaller { _ in nil })
        let arrival = try lab.arrive()[0]
        try await lab.run { engine in
            lab.deliver([arrival], to: engine)
            try await lab.caller.calls.element(1)
            lab.caller.answer(arrival.number, yes)
        }
        #expect(lab.state(arrival) == .yes)
    }

    @Test("an arrival that is announced and found in the journal as well is delivered once")
    func notTwice() async throws {
        let lab = DeliveryLab([photos])
        let arrival = try lab.arrive()[0]
        let next = try lab.arrive()[0]
        try await lab.run { engine in
            lab.deliver([arrival], to: engine)
            lab.deliver([next], to: engine)
            try await lab.wait(for: next, .yes)
        }
        #expect(lab.caller.calls.all.flatMap(\.numbers) == [arrival.number, next.number])
    }

    // MARK: By the transfer

    @Test("a handler that wants whole transfers is called once for all items, when the transfer has ended")
    func perTransfer() async throws {
        let lab = DeliveryLab([.sample("albums", mode: .perTransfer)])
        let (one, other) = (TransferID(), TransferID())
        try await lab.run { engine in
            let first = try lab.arrive(3, transfer: one)
            let between = try lab.arrive(2, transfer: other)
            let second = try lab.arrive(2, transfer: one)
            for arrivals in [first, between, second] { lab.deliver(arrivals, to: engine) }
            engine.transferEnded(other, from: .sample(1))
            try await lab.wait(for: between[1], .yes)
            #expect(lab.caller.calls.count == 1)
            engine.transferEnded(one, from: .sample(1))
            try await lab.wait(for: second[1], .yes)
            #expect(lab.caller.calls.all.map(\.numbers) == [between.map(\.number), (first + second).map(\.number)])
        }
        #expect(lab.answers.all.count == 7)
    }

    @Test("the transfers of an earlier run have ended")
    func perTransferAfterRestart() async throws {
        let lab = DeliveryLab([.sample("albums", mode: .perTransfer)])
        let arrivals = try lab.arrive(3)
        let second = lab.restarted()
        try await second.run { _ in try await lab.wait(for: arrivals[2], .yes) }
        #expect(second.caller.calls.all.map(\.numbers) == [arrivals.map(\.number)])
    }

    @Test("items whose clear copies are together too large are given one by one, in their order")
    func oneByOne() async throws {
        let lab = DeliveryLab([.sample("albums", mode: .perTransfer)], copies: FewCopies(most: 2))
        let transfer = TransferID()
        try await lab.run { engine in
            let arrivals = try lab.arrive(4, transfer: transfer)
            lab.deliver(arrivals, to: engine)
            engine.transferEnded(transfer, from: .sample(1))
            try await lab.wait(for: arrivals[3], .yes)
            let numbers = arrivals.map(\.number)
            #expect(lab.caller.calls.all.map(\.numbers) == [[numbers[0]], [numbers[1]], Array(numbers[2...])])
        }
    }

    // MARK: Launching

    @Test("a handler is launched when nothing was ready for it, and not again while it has work")
    func launches() async throws {
        let lab = DeliveryLab([photos], caller: ScriptedCaller { _ in nil })
        let arrivals = try lab.arrive(3)
        try await lab.run { engine in
            lab.deliver(Array(arrivals[0...1]), to: engine)
            for number in 0...1 {
                try await lab.caller.calls.element(number + 1)
                lab.caller.answer(arrivals[number].number, yes)
            }
            _ = try await lab.caller.rested.first()
            lab.deliver([arrivals[2]], to: engine)
            try await lab.caller.calls.element(3)
            lab.caller.answer(arrivals[2].number, yes)
            try await lab.wait(for: arrivals[2], .yes)
        }
        #expect(lab.caller.calls.all.map(\.isLaunch) == [true, false, true])
    }

    @Test("a handler that has crashed is left alone for a while, in the order in which things wait for it")
    func postponed() async throws {
        let caller = ScriptedCaller { _ in nil }
        let lab = DeliveryLab([photos], caller: caller)
        let arrivals = try lab.arrive(2)
        try await lab.run { engine in
            lab.deliver(arrivals, to: engine)
            caller.postpone(try await caller.calls.element(1).numbers[0], .seconds(4))
            #expect(try await lab.clock.sleeps.first() == .seconds(4))
            lab.clock.advance(by: .seconds(4))
            for count in 2...3 { caller.answer(try await caller.calls.element(count).numbers[0], yes) }
            for arrival in arrivals { try await lab.wait(for: arrival, .yes) }
        }
        #expect(caller.calls.all.flatMap(\.numbers) == [arrivals[0], arrivals[0], arrivals[1]].map(\.number))
        #expect(lab.answers.all.map(\.1) == [.yes, .yes])
    }

    // MARK: Missing items

    @Test("an item that has left the Inbox is delivered to no handler")
    func gone() async throws {
        let lab = DeliveryLab([photos])
        let arrivals = try lab.arrive(isThere: false) + lab.arrive()
        try await lab.run { engine in
            lab.deliver(arrivals, to: engine)
            try await lab.wait(for: arrivals[1], .yes)
            #expect(lab.state(arrivals[0]) == .gone)
            #expect(lab.caller.calls.all.flatMap(\.numbers) == [arrivals[1].number])
        }
        #expect(lab.answers.all.map(\.1) == [.failed, .yes])
    }

    @Test("an item that its user has renamed while it waited is delivered under its new name")
    func renamed() async throws {
        let folder = TemporaryFolder()
        let place = StoredItem(name: try SafeName("renamed"), path: folder.file("renamed", "hello"))
        let lab = DeliveryLab(
            [photos],
            findAgain: { arrival in
                var moved = arrival
                moved.stored = place
                return moved
            })
        let arrival = try lab.arrive(isThere: false)[0]
        try await lab.run { engine in
            lab.deliver([arrival], to: engine)
            try await lab.wait(for: arrival, .yes)
        }
        #expect(lab.caller.calls.all.flatMap { $0.items.map(\.arrival.stored) } == [place])
    }

    @Test("an item on a disk that is not mounted waits until it is")
    func notMounted() async throws {
        let lab = DeliveryLab([photos], isMounted: false)
        let arrival = try lab.arrive(isThere: false)[0]
        try await lab.run { engine in
            lab.deliver([arrival], to: engine)
            _ = try await lab.clock.sleeps.first()
            #expect(lab.answers.all.isEmpty)
            lab.folder.file("file-\(arrival.number)", "hello")
            lab.isMounted.open()
            lab.clock.advance(by: .seconds(10))
            try await lab.wait(for: arrival, .yes)
        }
    }

    @Test("an item of a removed handler waits, and goes to the next installed one")
    func handlersChange() async throws {
        let caller = ScriptedCaller { $0.candidate.program.name == "photos" ? later : yes }
        let lab = DeliveryLab([photos], caller: caller)
        let arrival = try lab.arrive()[0]
        try await lab.run { engine in
            lab.deliver([arrival], to: engine)
            _ = try await lab.clock.sleeps.first()
            lab.install([], in: engine)
            _ = try await lab.caller.rested.first()
            lab.clock.advance(by: .seconds(10))
            lab.install([.sample("albums")], in: engine)
            try await lab.wait(for: arrival, .yes)
        }
        #expect(caller.calls.all.map(\.candidate.program.name) == ["photos", "albums"])
    }

    // MARK: Again

    @Test("a delivery that failed or was parked begins again on request, and an unknown one does not")
    func retry() async throws {
        let caller = ScriptedCaller { $0.items[0].attempt == 1 ? AttemptOutcome(.failed, exitCode: 9) : yes }
        let lab = DeliveryLab([photos], caller: caller)
        let arrival = try lab.arrive()[0]
        try await lab.run { engine in
            lab.deliver([arrival], to: engine)
            try await lab.wait(for: arrival, .failed)
            #expect(await engine.retry(arrival.number) == .begun)
            try await lab.wait(for: arrival, .yes)
            #expect(await engine.retry(ArrivalNumber(99)) == .unknown)
            lab.install([], in: engine)
            #expect(await engine.retry(arrival.number) == .fault("no handler for this type: PNG image (public.png)"))
        }
        #expect(await lab.retryAfterTheEnd(arrival.number) == .fault("the receiver is stopping"))
    }

    // MARK: Trouble with the journal

    @Test("no handler is called while the journal cannot be written, and all are called when it can be again")
    func journalTrouble() async throws {
        let isFull = Gate()
        let clock = ManualClock()
        let journal = MemoryJournal(now: { clock.wallTime }) { operation in
            if case .began = operation, !isFull.isOpen { return TransferError(.noRoom, "the disk is full") }
            return nil
        }
        let lab = DeliveryLab([photos], journal: journal)
        let arrival = try lab.arrive()[0]
        try await lab.run { engine in
            lab.deliver([arrival], to: engine)
            _ = try await lab.clock.sleeps.first()
            #expect(lab.caller.calls.count == 0)
            isFull.open()
            lab.clock.advance(by: .seconds(10))
            try await lab.wait(for: arrival, .yes)
        }
    }
}

extension DeliveryLab {
    /// The answer of an engine that has ended.
    fileprivate func retryAfterTheEnd(_ number: ArrivalNumber) async -> DeliveryEngine.RetryAnswer? {
        var ended: DeliveryEngine?
        try? await run { ended = $0 }
        return await ended?.retry(number)
    }
}
