import Sharing
import TestSupport
import Testing

@Suite("An accepted transfer whose contents do not come", .timeLimit(.minutes(1)))
struct UnbegunTransferTests {
    private let events = Recorder<Reception.Event>()
    private let sender = Visitor(.sample(1))

    private func reception(departedWait: Duration) -> Reception {
        Reception(
            inbox: MemoryInbox(), journal: MemoryJournal(), gate: ScriptedGate(), consent: ScriptedConsent(.accept),
            delivery: RecordingDelivery(), departedWait: departedWait, observe: { [events] in events.record($0) })
    }

    /// The faults of the ends so far.
    private var ends: [TransferError?] {
        events.all.compactMap { event -> TransferError?? in
            if case .ended(_, _, _, let fault) = event { .some(fault) } else { nil }
        }
    }

    @Test("ends in the moment when its time is over, and observers hear that nothing was sent")
    func expired() async throws {
        let (reception, offer) = (reception(departedWait: .milliseconds(50)), Offer.sample(items: 2))
        #expect(await reception.judge(offer, from: sender).acceptsAnything)
        #expect(ends.isEmpty)
        reception.left(sender)
        let end = try await events.first { if case .ended = $0 { true } else { false } }
        guard case .ended(let id, let peer, let receipt, let fault) = end else { return }
        #expect(id == offer.transfer)
        #expect(peer == sender.peer)
        #expect(receipt.items.map(\.outcome) == [.notSent, .notSent])
        #expect(fault?.message == "its contents did not come")
        #expect(reception.underWay.isEmpty)
        expectNotAccepted { try reception.begin(offer.transfer, from: sender.peer) }
        #expect(ends.count == 1)
    }

    @Test("has ended before the same transfer is offered again")
    func offeredAgain() async throws {
        let (reception, offer) = (reception(departedWait: .seconds(3_600)), Offer.sample())
        for _ in 0...1 { #expect(await reception.judge(offer, from: sender).acceptsAnything) }
        #expect(ends.map { $0?.code } == [.interrupted])
        let transfer = try reception.begin(offer.transfer, from: sender.peer)
        reception.end(transfer, transfer.fail(TransferError(.cancelled, "")), fault: nil)
        #expect(ends.map { $0?.code } == [.interrupted, nil])
    }

    @Test("ends with the journal's fault if its contents cannot begin")
    func unreadableJournal() async throws {
        let journal = MemoryJournal(fault: { operation in
            if case .arrivals = operation { TransferError(.storage, "not readable") } else { nil }
        })
        let reception = Reception(
            inbox: MemoryInbox(), journal: journal, gate: ScriptedGate(), consent: ScriptedConsent(.accept),
            delivery: RecordingDelivery(), observe: { [events] in events.record($0) })
        let offer = Offer.sample()
        #expect(await reception.judge(offer, from: sender).acceptsAnything)
        #expect(throws: TransferError.self) { try reception.begin(offer.transfer, from: sender.peer) }
        #expect(ends.map { $0?.code } == [.storage])
    }
}
