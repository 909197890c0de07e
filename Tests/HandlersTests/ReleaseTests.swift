import HandlerCatalog
import Handlers
import Sharing
import TestSupport
import Testing

@Suite("An item that is about to leave the Inbox", .timeLimit(.minutes(1)))
struct ReleaseTests {
    private let photos = HandlerBundle.sample("photos")

    @Test("is free when its handler has answered, and the next handler is not asked about it for half a minute")
    func answered() async throws {
        let caller = ScriptedCaller { _ in nil }
        let lab = DeliveryLab([photos, .sample("second", installed: 5)], caller: caller)
        let arrival = try lab.arrive()[0]
        try await lab.run { engine in
            lab.deliver([arrival], to: engine)
            try await caller.calls.element(1)
            async let answer = engine.release(arrival.number, within: .seconds(5))
            #expect(try await caller.moves.element(1) == arrival.number)
            caller.answer(arrival.number, AttemptOutcome(.no, exitCode: 1))
            #expect(await answer == .free)
            _ = try await lab.clock.sleeps.first { $0 == .seconds(30) }
            lab.clock.advance(by: .seconds(30))
            #expect(try await caller.calls.element(2).candidate.program.name == "second")
            caller.answer(arrival.number, AttemptOutcome(.yes, exitCode: 0))
            try await lab.wait(for: arrival, .yes)
        }
        let began = try #require(lab.journal[arrival.number]?.attempts.map(\.began.milliseconds))
        #expect(began == [ManualClock.start, ManualClock.start + 30_000])
    }

    @Test("is not free while its handler has it: a caller gets the handler's name and the time so far")
    func read() async throws {
        let caller = ScriptedCaller { _ in nil }
        let lab = DeliveryLab([photos], caller: caller)
        let arrival = try lab.arrive()[0]
        try await lab.run { engine in
            lab.deliver([arrival], to: engine)
            try await caller.calls.element(1)
            lab.clock.advance(by: .seconds(3))
            async let answer = engine.release(arrival.number, within: .seconds(5))
            _ = try await lab.clock.sleeps.first { $0 == .seconds(8) }
            lab.clock.advance(by: .seconds(5))
            #expect(await answer == .read(by: "photos", for: .seconds(8)))
            #expect(await engine.release(arrival.number, within: .zero) == .free)
            caller.answer(arrival.number, AttemptOutcome(.yes, exitCode: 0))
            try await lab.wait(for: arrival, .yes)
            try await caller.moves.element(2)
        }
        #expect(caller.moves.all == [arrival.number, arrival.number])
    }

    @Test("waits for a handler that has the item as sent again, and gives it to no handler as sent again")
    func sentAgain() async throws {
        let caller = ScriptedCaller { _ in nil }
        let lab = DeliveryLab([photos], caller: caller)
        let arrival = try lab.arrive()[0]
        let again = try (1...2).map { _ in
            try lab.journal.sendAgain(arrival.facts, of: arrival.number, isDelivered: true)
        }
        try await lab.run { engine in
            lab.deliver([again[0]], to: engine)
            try await caller.calls.element(1)
            async let answer = engine.release(arrival.number, within: .seconds(5))
            #expect(try await caller.moves.element(1) == again[0].number)
            lab.deliver([again[1]], to: engine)
            caller.answer(again[0].number, AttemptOutcome(.yes, exitCode: 0))
            #expect(await answer == .free)
            _ = try await lab.clock.sleeps.first { $0 == .seconds(30) }
        }
        #expect(caller.calls.all.flatMap(\.numbers) == [again[0].number])
    }

    @Test("that has left is delivered to no handler, though another item has its name now")
    func replaced() async throws {
        let caller = ScriptedCaller { _ in nil }
        let lab = DeliveryLab([photos], caller: caller)
        let arrivals = try lab.arrive(4)
        try await lab.run { engine in
            lab.deliver(arrivals, to: engine)
            try await caller.calls.element(1)
            // A verb removes the second item; the test removes the third by hand.
            #expect(await engine.release(arrivals[1].number, within: .seconds(5)) == .free)
            try lab.journal.departed([arrivals[1].number], Departure(.removed, at: lab.clock.wallTime))
            let later = try arrivals[1...2].map { try lab.arrive(at: $0.stored) }
            lab.deliver(later, to: engine)
            caller.answer(arrivals[0].number, AttemptOutcome(.yes, exitCode: 0))
            for (count, arrival) in zip(2..., [arrivals[3]] + later) {
                #expect(try await caller.calls.element(count).numbers == [arrival.number])
                caller.answer(arrival.number, AttemptOutcome(.yes, exitCode: 0))
                try await lab.wait(for: arrival, .yes)
            }
            _ = try await lab.clock.sleeps.first { $0 == .seconds(30) }
            lab.clock.advance(by: .seconds(30))
            _ = try await lab.answers.first { $0.0 == arrivals[1].number }
            #expect(arrivals[1...2].map(lab.state) == [.gone, .gone])
            let answers = lab.answers.all.filter { $0.0 == arrivals[1].number || $0.0 == arrivals[2].number }
            #expect(answers.map(\.1) == [.none, .none], "no handler failed")
            #expect(await engine.retry(arrivals[1].number) == .left)
            #expect(await engine.retry(arrivals[2].number) == .left)
        }
        #expect(caller.calls.all.count == 4)
    }

    @Test("was taken by its handler if another item has its name when the handler answers")
    func taken() async throws {
        let caller = ScriptedCaller { _ in nil }
        let lab = DeliveryLab([photos], caller: caller)
        let arrival = try lab.arrive()[0]
        try await lab.run { engine in
            lab.deliver([arrival], to: engine)
            try await caller.calls.element(1)
            _ = try lab.arrive(at: arrival.stored)
            caller.answer(arrival.number, AttemptOutcome(.yes, exitCode: 0))
            try await lab.wait(for: arrival, .yes)
        }
        #expect(lab.journal[arrival.number]?.departure?.how == .handler)
    }

    @Test("is free at once if no handler has it, and is then handed to none")
    func waiting() async throws {
        let caller = ScriptedCaller { _ in nil }
        let lab = DeliveryLab([photos], caller: caller)
        let arrivals = try lab.arrive(3)
        try await lab.run { engine in
            lab.deliver(arrivals, to: engine)
            try await caller.calls.element(1)
            #expect(await engine.release(arrivals[1].number, within: .seconds(5)) == .free)
            caller.answer(arrivals[0].number, AttemptOutcome(.yes, exitCode: 0))
            #expect(try await caller.calls.element(2).numbers == [arrivals[2].number])
            caller.answer(arrivals[2].number, AttemptOutcome(.yes, exitCode: 0))
            try await lab.wait(for: arrivals[2], .yes)
            #expect(await engine.release(ArrivalNumber(99), within: .seconds(5)) == .free)
        }
        #expect(caller.moves.all.isEmpty)
        #expect(lab.state(arrivals[1]) == .waiting)
        #expect(await lab.engine.release(arrivals[1].number, within: .seconds(5)) == .free, "the receiver has stopped")
    }
}
