import Sharing
import TestSupport
import Testing

@Suite("An offer in the events of a reception", .timeLimit(.minutes(1)))
struct OfferPublicationTests {
    /// A reception with a queue of offers, and its events; for each offer, whether it could be answered then.
    private struct Desk {
        let told = Recorder<String>()
        let queue: ConsentQueue
        let reception: Reception

        init(_ rule: AcceptRule, inbox: MemoryInbox = MemoryInbox()) {
            let queue = ConsentQueue(rule: rule)
            self.queue = queue
            reception = Reception(
                inbox: inbox, journal: MemoryJournal(), gate: ScriptedGate(), consent: queue,
                delivery: RecordingDelivery(.none)
            ) { [told] event in
                switch event {
                case .offered(let offer, _):
                    let waits = queue.offers.contains { $0.offer.transfer == offer.transfer }
                    told.record(waits ? "offered, and can be answered" : "offered")
                case .judged(_, let verdict, _):
                    told.record(verdict.acceptsAnything ? "accepted" : "declined")
                default: break
                }
            }
        }
    }

    @Test("comes when the offer can be answered, not before", arguments: [AcceptRule.ask, .contacts])
    func answerable(rule: AcceptRule) async throws {
        let desk = Desk(rule)
        async let verdict = desk.reception.judge(Offer.sample(), from: Receiver.peer)
        try await desk.told.first { $0.hasPrefix("offered") }
        #expect(desk.queue.answer(1, accept: true))
        #expect(await verdict.acceptsAnything)
        #expect(desk.told.all == ["offered, and can be answered", "accepted"])
    }

    @Test("comes before the verdict if everything is accepted or nothing")
    func rules() async throws {
        for (rule, verdict) in [(AcceptRule.everyone, "accepted"), (.none, "declined")] {
            let desk = Desk(rule)
            _ = await desk.reception.judge(Offer.sample(), from: Receiver.peer)
            #expect(desk.told.all == ["offered", verdict])
        }
    }

    @Test("comes before the verdict if nobody is asked, since there is no room", arguments: AcceptRule.allCases)
    func noQuestion(rule: AcceptRule) async throws {
        let desk = Desk(rule, inbox: MemoryInbox(freeRoom: 0))
        _ = await desk.reception.judge(Offer.sample(), from: Receiver.peer)
        #expect(desk.told.all == ["offered", "declined"])
    }
}
