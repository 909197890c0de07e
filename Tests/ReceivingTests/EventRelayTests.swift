import Contacts
import Control
import Digests
import Lines
import Sharing
import TestSupport
import Testing

@testable import Receiving

@Suite("Offers in the events for watchers", .timeLimit(.minutes(1)))
struct EventRelayTests {
    private let friend = PeerID.sample(1)
    private let stranger = PeerID.sample(2)

    /// A queue whose offers become events, with the questions that are open.
    private struct Desk: Sendable {
        let folder = TemporaryFolder()
        let book: ContactBook
        let relay: EventRelay
        let queue: ConsentQueue
        let consent: RelayedConsent
        let told = Recorder<ControlEvent>()

        init(rule: AcceptRule = .ask) {
            let book = ContactBook(path: folder / "contacts.json")
            let told = self.told
            let relay = EventRelay(book, name: { "kitchen" }) { told.record($0) }
            let queue = ConsentQueue(rule: rule) { relay.entered($0) }
            (self.book, self.relay, self.queue) = (book, relay, queue)
            consent = RelayedConsent(asking: queue, relay: relay)
        }

        func know(_ peer: PeerID, as name: String) throws {
            let verification = Verification(.comparedCode, at: WallTime(milliseconds: 1_795_248_000_000))
            try book.allow(peer, named: ContactName(name), verification)
        }
    }

    private func offer(callingItself name: String, items: Int = 1) -> Offer {
        var offer = Offer.sample(items: items)
        offer.senderName = name
        return offer
    }

    @Test("the progress of a transfer is told a few times a second, and again from its start after its end")
    func progress() {
        let desk = Desk()
        let id = TransferID()
        for bytes in 1...1_000 {
            desk.relay.see(.reception(.progressed(id, from: friend, received: UInt64(bytes), of: 1_000)))
        }
        #expect(desk.told.all.count < 5)
        #expect(desk.told.all.first == .progress(ArrivingLine(id, from: friend, bytes: 1, of: 1_000)))
        desk.relay.see(.reception(.ended(id, from: friend, Receipt(transfer: id, items: []), nil)))
        desk.relay.see(.reception(.progressed(id, from: friend, received: 5, of: 1_000)))
        #expect(desk.told.all.last == .progress(ArrivingLine(id, from: friend, bytes: 5, of: 1_000)))
    }

    @Test("a contact is introduced by the user's own name for it, whatever its own name is")
    func contact() throws {
        let desk = Desk()
        try desk.know(friend, as: "Anna")
        let summary = desk.relay.line(
            of: WaitingOffer(number: 1, offer: offer(callingItself: "Bob\u{1B}[2J"), peer: friend, freeRoom: 1))
        #expect(summary.from == PersonFields(id: friend.text, name: "Bob\u{1B}[2J", contact: "Anna"))
    }

    @Test("a stranger is introduced as one, with its key, and with a warning where it calls itself like a contact")
    func strangers() throws {
        let desk = Desk()
        try desk.know(friend, as: "Anna")
        for (name, isWarned) in [("Anna", true), ("аnna", true), ("Zoë", false)] {
            let summary = desk.relay.line(
                of: WaitingOffer(number: 1, offer: offer(callingItself: name), peer: stranger, freeRoom: 1))
            #expect(
                summary.from == PersonFields(id: stranger.text, name: name, claims: isWarned ? "Anna" : nil))
            #expect((summary.warning != nil) == isWarned, "\(name)")
            #expect(summary.warning?.contains(friend.short) != false)
        }
    }

    @Test("where the contacts cannot be read everybody is a stranger")
    func unreadable() throws {
        let desk = Desk()
        desk.folder.file("contacts.json", "{")
        let summary = desk.relay.line(
            of: WaitingOffer(number: 1, offer: offer(callingItself: "Anna"), peer: friend, freeRoom: 1))
        #expect(summary.from == PersonFields(id: friend.text, name: "Anna"))
    }

    @Test("an offer has one event when it begins to wait, and one with its answers", arguments: 0..<4)
    func told(way: Int) async throws {
        let desk = Desk()
        let offer = offer(callingItself: "x", items: 3)
        let asking = Task { await desk.consent.consent(to: offer, from: stranger, freeRoom: 9) }
        guard case .offer(let summary) = try await desk.told.element(1) else {
            Issue.record("what comes first is the offer")
            return
        }
        #expect((summary.count, summary.free, summary.transfer) == (3, 9, offer.transfer.text))
        let number = try #require(summary.offer)
        switch way {
        case 0: desk.queue.answer(number, accept: true)
        case 1: desk.queue.answer(number, accept: false)
        case 2: desk.queue.answer(number, accepting: [0, 2])
        default: asking.cancel()
        }
        var verdicts = await asking.value
        #expect(desk.told.count == (way == 3 ? 1 : 2))
        // The reception knows the cause.
        if way == 3 { verdicts = Array(repeating: .unanswered(.receiverStopped), count: 3) }
        desk.relay.see(.reception(.judged(offer, Verdict(items: verdicts), from: stranger)))
        #expect(desk.told.count == 2)
        let settled = AnsweredLine(
            offer, from: PersonFields(id: stranger.text, name: "x"), verdicts, number: number)
        #expect(desk.told.all.last == .answered(settled))
        #expect(settled.acceptedCount == [3, 0, 2, 0][way])
        #expect(settled.answers.map(\.answer).contains(way == 3 ? "expired" : way == 0 ? "accepted" : "declined"))
    }

    @Test("many offers, answered from everywhere at once, each begin and end once")
    func many() async throws {
        let desk = Desk()
        await withTaskGroup(of: Void.self) { group in
            for number in 1...100 {
                let offer = offer(callingItself: "x")
                let asking = Task { await desk.consent.consent(to: offer, from: stranger, freeRoom: 9) }
                group.addTask {
                    let verdict = Verdict(items: await asking.value)
                    desk.relay.see(.reception(.judged(offer, verdict, from: stranger)))
                }
                group.addTask {
                    if number.isMultiple(of: 3) { asking.cancel() }
                    for accept in [true, false] { desk.queue.answer(number, accept: accept) }
                    // The question came after the answer: nothing else would end it.
                    asking.cancel()
                }
            }
        }
        var waiting: Set<Int> = []
        var seen = 0
        for event in desk.told.all {
            switch event {
            case .offer(let offer):
                #expect(offer.offer.map { waiting.insert($0).inserted } == true)
                seen += 1
            case .answered(let answer): #expect(answer.offer.flatMap { waiting.remove($0) } != nil)
            default: Issue.record("\(event)")
            }
        }
        #expect(waiting.isEmpty)
        #expect(seen == 100)
    }

    @Test("offers without a question have no event", arguments: [AcceptRule.everyone, .none])
    func unasked(rule: AcceptRule) async throws {
        let desk = Desk(rule: rule)
        _ = await desk.consent.consent(to: offer(callingItself: "x"), from: stranger, freeRoom: 9)
        #expect(desk.told.count == 0)
    }

    @Test("what was accepted without a question is told once, with its sender, and a refusal is not")
    func acceptedUnasked() throws {
        let desk = Desk()
        try desk.know(friend, as: "Anna")
        let offer = offer(callingItself: "x", items: 2)
        let verdict = Verdict(items: [.accepted, ItemVerdict(.ineligible)], digest: .xxh3_128)
        desk.relay.see(.reception(.judged(offer, verdict, from: friend)))
        desk.relay.see(
            .reception(.judged(offer, Verdict(all: ItemVerdict(.busy), count: 2, digest: .xxh3_128), from: friend)))
        #expect(
            desk.told.all == [
                .answered(
                    AnsweredLine(
                        offer, from: PersonFields(id: friend.text, name: "x", contact: "Anna"), verdict.items,
                        listsItems: true))
            ])
    }

    @Test("the answer to an offer that has waited is not told again when it is judged")
    func judgedAfterWaiting() async throws {
        let desk = Desk()
        let offer = offer(callingItself: "x")
        let asking = Task { await desk.consent.consent(to: offer, from: stranger, freeRoom: 9) }
        while desk.queue.offers.isEmpty { await Task.yield() }
        desk.queue.answer(1, accept: true)
        let verdicts = await asking.value
        desk.relay.see(.reception(.judged(offer, Verdict(items: verdicts, digest: .xxh3_128), from: stranger)))
        #expect(desk.told.count == 2)
    }

    @Test(
        "an arrival has an event with the contact that sent it, and only if there is a watcher",
        arguments: [false, true])
    func arrivals(isWatched: Bool) throws {
        let desk = Desk()
        try desk.know(friend, as: "Anna")
        let told = Recorder<ControlEvent>()
        let relay = EventRelay(desk.book, isWatched: { isWatched }, name: { "kitchen" }, tell: { told.record($0) })
        let offer = offer(callingItself: "Bob")
        let facts = ArrivalFacts(
            transfer: offer.transfer, itemNumber: 0, itemsInOffer: 1, item: offer.items[0], size: 5,
            digest: .of(.xxh3_128, Array("hello".utf8)), peer: friend, senderName: "Bob", annotation: [:])
        let arrival = Arrival(
            number: ArrivalNumber(7), facts: facts,
            stored: StoredItem(name: try SafeName("file-0"), path: "/in/file-0"))
        relay.see(.reception(.stored([arrival])))
        relay.see(.reception(.opened(arrival, HandlerAnswer(.no, exitCode: 1))))
        relay.see(.reception(.opened(arrival, HandlerAnswer(.none))))
        relay.see(.reception(.progressed(offer.transfer, from: friend, received: 1, of: 2)))
        let line = ArrivalLine(arrival, from: PersonFields(id: friend.text, name: "Bob", contact: "Anna"))
        let events: [ControlEvent] = [
            .arrival(line), .arrival(line.answered(HandlerAnswer(.no, exitCode: 1))),
            .progress(ArrivingLine(offer.transfer, from: friend, bytes: 1, of: 2)),
        ]
        #expect(told.all == (isWatched ? events : []))
    }
}
