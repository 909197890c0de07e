import Sharing
import TestSupport
import Testing

@testable import Handlers

/// The ledger alone: no tasks, no clock, no disk.
@Suite("The ledger of deliveries")
struct DeliveryLedgerTests {
    private let model = DeliveryModel()
    private var ledger: DeliveryLedger

    init() { ledger = DeliveryLedger(model, places: 2) }

    /// Gives an event to the ledger, and its results to the journal.
    /// - Returns: the actions, one word or two for each.
    private mutating func tell(_ event: DeliveryLedger.Event) -> [String] {
        var words: [String] = []
        var actions = ledger.handle(event)
        repeat {
            for action in actions {
                words.append(Self.word(action))
                guard case .record(let call, let isAsked) = action else { continue }
                let attempts = try? model.journal.began(
                    call.numbers, handler: call.candidate.program.identifier, isAsked: isAsked, at: model.now)
                words += ledger.began(call, attempts: attempts).map(Self.word)
            }
            actions = ledger.advance()
        } while !actions.isEmpty
        return words
    }

    private static func word(_ action: DeliveryLedger.Action) -> String {
        switch action {
        case .record(let call, _): "record \(call.numbers.count)"
        case .call(let call): "call \(call.candidate.program.identifier)"
        case .end(_, _, .ended(let state)): "end \(state)"
        case .end(_, _, .again): "end again"
        case .end: "end"
        case .finish(_, let state): "finish \(state)"
        case .noteDepartures: "departures"
        case .answer(_, let answer): "answer \(answer.state)"
        case .forget: "forget"
        case .answerAsked(_, let answer): answer == .left ? "asked left" : "asked"
        case .answerRelease(_, .free): "free"
        case .answerRelease: "read"
        case .itemWillMove: "will move"
        case .rest: "rest"
        case .reportMissing: "missing"
        case .setAlarm(let due): due == nil ? "no alarm" : "alarm"
        }
    }

    private func arrival(
        _ protection: ProtectionClass = .none, to handler: String? = nil, in transfer: TransferID = TransferID()
    ) -> Arrival {
        model.arrive(transfer, of: 1, protection, to: handler)
    }

    private func call(_ arrival: Arrival, _ handler: String = "a") -> DeliveryCall {
        DeliveryCall(
            candidate: HandlerChoice.Candidate(program: model.program(handler)),
            items: [DeliveryCall.Item(arrival: arrival, attempt: 1)], isLaunch: true)
    }

    private func state(_ arrival: Arrival) -> DeliveryLedger.State? { ledger.entries[arrival.number]?.state }

    @Test(
        "an answer is recorded before its listener hears it",
        arguments: [
            (AttemptOutcome(.yes), ["end yes", "answer yes", "forget", "departures", "rest"]),
            (AttemptOutcome(.failed), ["end failed", "answer failed", "forget", "departures", "rest"]),
            (AttemptOutcome(.later), ["end", "answer later", "departures", "alarm"]),
            (AttemptOutcome(.no), ["end", "departures"]),
        ])
    mutating func answers(outcome: AttemptOutcome, actions: [String]) {
        let arrival = arrival()
        let begun = tell(.arrived([arrival]))
        #expect(begun == ["record 1", "call a"])
        #expect(state(arrival)?.candidate?.program.identifier == "a")
        let ended = tell(.called(call(arrival), .answered(outcome)))
        #expect(Array(ended.prefix(actions.count)) == actions)
    }

    @Test("no handler is called for ten seconds after the journal could not record a beginning")
    mutating func journalPause() {
        let arrival = arrival()
        model.faults.began = true
        let failed = tell(.arrived([arrival]))
        #expect(failed == ["record 1", "alarm"])
        model.faults.began = false
        model.uptime += .seconds(9)
        let early = tell(.due)
        model.uptime += .seconds(1)
        let late = tell(.due)
        #expect(early == ["alarm"] && late.prefix(2) == ["record 1", "call a"])
    }

    @Test("an item that the journal cannot read waits for ten seconds, while others go on, and is not lost")
    mutating func unreadable() {
        let (first, second) = (arrival(), arrival(to: "c"))
        model.faults.read = true
        let failed = tell(.arrived([first, second]))
        model.faults.read = false
        let other = tell(.arrived([arrival(to: "b")]))
        model.uptime += .seconds(10)
        let late = tell(.due)
        #expect(failed == ["alarm"] && other.isEmpty)
        #expect(late.prefix(4) == ["record 1", "call a", "record 1", "call c"])
    }

    @Test("after a call that a person asked for, the usual delivery goes on also if the journal cannot be read")
    mutating func askedUnreadable() {
        let (first, second) = (arrival(), arrival())
        _ = tell(.arrived([first, second]))
        model.faults.read = true
        let words = tell(.asked(second, handler: "c", annotation: [:]))
        #expect(words == ["asked", "rest"])
        _ = tell(.called(call(first), .answered(AttemptOutcome(.yes))))
        model.faults.read = false
        model.uptime += .seconds(10)
        let late = tell(.due)
        #expect(late.contains("call a"))
    }

    @Test("an item that cannot be called waits in the state that says why, and its sender hears so once")
    mutating func waiting() {
        model.handlers["a"]?.isProgramThere = false
        let (locked, suspended) = (arrival(.complete), arrival())
        let words = tell(.arrived([locked, suspended]))
        #expect(words.filter { $0 == "answer later" }.count == 2 && state(locked) == .locked)
        guard case .suspended = state(suspended) else {
            Issue.record("it is not suspended")
            return
        }
        let again = tell(.handlersChanged)
        #expect(!again.contains("answer later"))
        #expect([locked, suspended].map { ledger.standing(of: $0.number)?.state } == [.later, .later])
    }

    @Test("items that waited for a program go before a later one, when a call finds the program there")
    mutating func programBack() {
        let (late, early) = (arrival(to: "a"), arrival(to: "a"))
        _ = tell(.arrived([late]))
        _ = tell(.called(call(late), .answered(AttemptOutcome(.later))))
        model.handlers["a"]?.isProgramThere = false
        _ = tell(.arrived([early]))
        model.handlers["a"]?.isProgramThere = true
        model.uptime += .seconds(2)
        _ = tell(.due)
        let arrivals = [late, early].map { ledger.entries[$0.number]?.isUnderWay }
        #expect(arrivals == [true, false])
        guard case .ready = state(early) else {
            Issue.record("it waits for ever")
            return
        }
    }

    @Test("a person hears that an item has left, and so does the listener of its delivery")
    mutating func askedForGone() {
        let (first, second) = (arrival(), arrival())
        _ = tell(.arrived([first, second]))
        model.missing.insert(second.holder)
        let words = tell(.asked(second, handler: "c", annotation: [:]))
        #expect(words == ["asked left", "rest"])
        let rest = tell(.called(call(first), .answered(AttemptOutcome(.yes))))
        #expect(rest.contains("finish gone") && rest.contains("answer failed") && ledger.entries.isEmpty)
    }

    @Test("a handler that takes whole transfers is called after the end, once for all items that fit")
    mutating func transfers() {
        let transfer = TransferID()
        let items = (0..<3).map { _ in arrival(to: "b", in: transfer) }
        let early = tell(.arrived(items))
        #expect(early.isEmpty)
        let late = tell(.transferEnded(transfer, .sample(1)))
        #expect(late == ["record 3", "call b"])
    }

    @Test("a release waits for the handler that has the item, at most for its limit")
    mutating func releases() {
        let arrival = arrival()
        _ = tell(.arrived([arrival]))
        let asked = tell(.release(id: 1, arrival.number, limit: .seconds(5)))
        #expect(asked == ["will move", "alarm"])
        model.uptime += .seconds(5)
        let late = tell(.due)
        #expect(late == ["read"])
    }

    @Test("after a stop nothing begins, and the deliveries stay")
    mutating func stopping() {
        let (first, second) = (arrival(), arrival())
        _ = tell(.arrived([first, second]))
        _ = ledger.handle(.stop)
        let words = ledger.handle(.called(call(first), .cutShort)).map(Self.word)
        #expect(words == ["end again"] && ledger.running == 0 && ledger.entries.count == 2)
    }
}
