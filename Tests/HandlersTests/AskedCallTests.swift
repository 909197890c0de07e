import HandlerCatalog
import Handlers
import Sharing
import TestSupport
import Testing

private let yes = AttemptOutcome(.yes, exitCode: 0)
private let no = AttemptOutcome(.no, exitCode: 1)

@Suite("A call that a person asks for", .timeLimit(.minutes(1)))
struct AskedCallTests {
    private let photos = HandlerBundle.sample("photos")
    private let second = HandlerBundle.sample("second", installed: 5)

    @Test("goes to the chosen handler with the annotation, and the journal has it as asked for")
    func chosen() async throws {
        let lab = DeliveryLab([photos, second])
        let arrival = try lab.arrive()[0]
        try await lab.run { engine in
            lab.deliver([arrival], to: engine)
            try await lab.wait(for: arrival, .yes)
            let answer = await engine.open(
                arrival.number, in: second.identifier.text, annotation: ["key": "value"])
            #expect(answer == .answered(yes))
        }
        let call = try #require(lab.caller.calls.all.last)
        #expect(call.candidate.program.identifier == second.identifier.text)
        #expect(call.annotation == ["key": "value"] && lab.caller.calls.all.first?.annotation == [:])
        #expect(lab.journal[arrival.number]?.attempts.map(\.isAsked) == [false, true])
    }

    @Test("is answered as locked if the lock ends its handler, and the delivery stays as it was")
    func locked() async throws {
        let lab = DeliveryLab([photos, second], caller: ScriptedCaller { _ in nil })
        let arrival = try lab.arrive()[0]
        try await lab.run { engine in
            async let answer = engine.open(arrival.number, in: second.identifier.text)
            try await lab.caller.calls.element(1)
            lab.caller.lock(arrival.number)
            #expect(await answer == .locked)
        }
        #expect(lab.journal[arrival.number]?.attempts.map(\.isAsked) == [true])
        #expect(lab.journal[arrival.number]?.state != .yes)
    }

    @Test("leaves a finished delivery as it was after any answer but yes")
    func unchanged() async throws {
        let lab = DeliveryLab(
            [photos, second], caller: ScriptedCaller { $0.candidate.program.name == "second" ? no : yes })
        let arrival = try lab.arrive()[0]
        try await lab.run { engine in
            lab.deliver([arrival], to: engine)
            try await lab.wait(for: arrival, .yes)
            #expect(await engine.open(arrival.number, in: second.identifier.text) == .answered(no))
        }
        #expect(lab.journal[arrival.number]?.state == .yes)
        #expect(lab.caller.calls.all.count == 2)
    }

    @Test("takes the place of a delivery that waits, which goes on after a no and ends with a yes")
    func waiting() async throws {
        let caller = ScriptedCaller { call in
            if call.candidate.program.name == "second" { return call.annotation.isEmpty ? no : yes }
            return AttemptOutcome(.later, exitCode: 75)
        }
        let lab = DeliveryLab([photos, second], caller: caller)
        let arrival = try lab.arrive()[0]
        try await lab.run { engine in
            lab.deliver([arrival], to: engine)
            _ = try await lab.clock.sleeps.first { $0 == .seconds(1) }
            #expect(await engine.open(arrival.number, in: second.identifier.text) == .answered(no))
            // The wait goes on.
            #expect(try await lab.clock.sleeps.element(2) == .seconds(1))
            lab.clock.advance(by: .seconds(1))
            #expect(try await caller.calls.element(3).candidate.program.name == "photos")
            _ = try await lab.clock.sleeps.first { $0 == .seconds(3) }
            #expect(
                await engine.open(arrival.number, in: second.identifier.text, annotation: ["a": "b"]) == .answered(yes))
            try await lab.wait(for: arrival, .yes)
        }
        #expect(lab.journal[arrival.number]?.state == .yes)
    }

    @Test("fails at once for an unknown handler, an unknown item, a liar's, one that has left, and one in other hands")
    func refused() async throws {
        let caller = ScriptedCaller { _ in nil }
        let lab = DeliveryLab([photos, second], caller: caller)
        let arrivals = try lab.arrive(2)
        try await lab.run { engine in
            let open = { (number: ArrivalNumber, handler: String) in await engine.open(number, in: handler) }
            #expect(
                await open(arrivals[0].number, "org.example.none")
                    == .fault("there is no enabled handler org.example.none"))
            #expect(await open(ArrivalNumber(99), second.identifier.text) == .unknown)
            try lab.journal.departed([arrivals[1].number], Departure(.removed, at: lab.clock.wallTime))
            #expect(await open(arrivals[1].number, second.identifier.text) == .left)
            lab.deliver([arrivals[0]], to: engine)
            try await caller.calls.element(1)
            #expect(await open(arrivals[0].number, second.identifier.text) == .underWay)
            caller.answer(arrivals[0].number, yes)
            try await lab.wait(for: arrivals[0], .yes)
        }
    }

    @Test("is answered when the receiver stops, before and during the call")
    func stopping() async throws {
        let caller = ScriptedCaller { _ in nil }
        let lab = DeliveryLab([photos], caller: caller)
        let arrivals = try lab.arrive(2)
        let (first, other) = (arrivals[0].number, arrivals[1].number)
        let handler = photos.identifier.text
        let running = Task { await lab.engine.run() }
        async let during = lab.engine.open(first, in: handler)
        try await caller.calls.element(1)
        async let before = lab.engine.open(other, in: handler)
        await lab.engine.ping()
        running.cancel()
        #expect(await during == .answered(AttemptOutcome(.later, reason: "the receiver stopped")))
        #expect(await before == .fault("the receiver is stopping"))
        await running.value
        #expect(lab.journal[first]?.state == .waiting && lab.journal[other]?.attempts.isEmpty == true)
    }
}
