import Digests
import TestSupport
import Testing

@testable import Sharing

/// The ledger alone: no tasks, no clock, no disk.
@Suite("The ledger of transfers")
struct TransferLedgerTests {
    private static let peer = PeerID.sample(1)
    private let start = ContinuousClock.now
    private var ledger = TransferLedger()

    private func claim(_ offer: Offer, _ peer: PeerID = Self.peer) -> OfferClaim {
        OfferClaim(
            peer: peer, address: nil, isContact: true, items: offer.items.count, bytes: offer.knownSize,
            footprint: offer.knownFootprint.bytes)
    }

    /// - Returns: the refusal; nil if the offer was admitted.
    private mutating func admit(_ offer: Offer, from peer: PeerID = Self.peer) -> ItemVerdict? {
        switch ledger.admit(offer, claim(offer, peer), at: start) {
        case .admitted: nil
        case .refused(let verdict, _): verdict
        }
    }

    private mutating func settle(_ offer: Offer, connection: UInt64 = 1, isWithdrawn: Bool = false) -> Verdict {
        ledger.settle(
            offer, Verdict(all: .accepted, count: offer.items.count), connection: connection, isWithdrawn: isWithdrawn,
            at: start)
    }

    private mutating func accept(_ offer: Offer, connection: UInt64 = 1) {
        let refusal = admit(offer)
        #expect(refusal == nil)
        let verdict = settle(offer, connection: connection)
        #expect(verdict.acceptsAnything)
    }

    private mutating func begin(_ offer: Offer, from peer: PeerID = Self.peer, after wait: Duration = .zero) -> Bool {
        ledger.begin(offer.transfer, from: peer, at: start + wait, interrupt: {}) != nil
    }

    private mutating func receive(_ offer: Offer) {
        accept(offer)
        let hasBegun = begin(offer)
        #expect(hasBegun)
    }

    private func receipt(_ offer: Offer, isStored: Bool = true) -> Receipt {
        let digest = Digest.of(.xxh3_128, [] as [UInt8])
        let item = ItemReceipt(isStored ? .stored(name: "a", size: 0, digest: digest) : .notSent)
        return Receipt(transfer: offer.transfer, items: Array(repeating: item, count: offer.items.count))
    }

    private func arrival(_ offer: Offer) -> Arrival {
        let facts = ArrivalFacts(
            transfer: offer.transfer, itemNumber: 0, itemsInOffer: offer.items.count, item: offer.items[0], size: 5,
            digest: .of(.xxh3_128, [] as [UInt8]), peer: Self.peer, senderName: "", annotation: [:])
        return Arrival(number: ArrivalNumber(1), facts: facts, stored: StoredItem(name: safe("a"), path: "/a"))
    }

    @Test("a transfer begins once, and only for its own peer")
    mutating func beginning() {
        let offer = Offer.sample()
        var begun = [begin(offer)]
        _ = admit(offer)
        begun.append(begin(offer))
        _ = settle(offer)
        begun += [begin(offer, from: .sample(2)), begin(offer), begin(offer)]
        #expect(begun == [false, false, false, true, false])
    }

    @Test("a verdict opens nothing if the sender has left, and the answer is busy while the receiver stops")
    mutating func settling() {
        let (left, late) = (Offer.sample(), Offer.sample())
        let refusals = [admit(left), admit(late)]
        #expect(refusals == [nil, nil])
        _ = settle(left, isWithdrawn: true)
        let hasBegun = begin(left)
        #expect(!hasBegun)
        _ = ledger.stop()
        let answers = [settle(late).items[0].answer, admit(.sample())?.answer]
        #expect(answers == [.busy, .busy])
    }

    @Test(
        "an accepted transfer expires after 60 s, soon after its connection has closed, or at the time it was held until"
    )
    mutating func expiry() {
        let (forgotten, left, held) = (Offer.sample(), Offer.sample(), Offer.sample())
        accept(forgotten)
        accept(left, connection: 2)
        accept(held, connection: 3)
        ledger.leave(2, until: start + .seconds(5))
        let end = start + .seconds(1_000)
        let isHeld = [Self.peer, .sample(2)].map { ledger.hold(held.transfer, from: $0, at: start, until: end) != nil }
        #expect(isHeld == [true, false])
        #expect([4, 5, 59, 60].map { ledger.openTransfers(at: start + .seconds($0)) } == [3, 2, 2, 1])
        let begun = [
            begin(left, after: .seconds(5)), begin(forgotten, after: .seconds(60)), begin(held, after: .seconds(999)),
        ]
        #expect(begun == [false, false, true])
    }

    @Test("a peer that offers a running transfer again ends the old connection; another peer is refused")
    mutating func again() {
        let offer = Offer.sample()
        receive(offer)
        guard case .refused(let busy, let interrupt) = ledger.admit(offer, claim(offer), at: start) else {
            Issue.record("it was admitted")
            return
        }
        #expect(busy.answer == .busy && interrupt != nil)
        guard case .refused(let no, nil) = ledger.admit(offer, claim(offer, .sample(2)), at: start) else {
            Issue.record("another peer's offer ends the connection")
            return
        }
        #expect(no.answer == .declined)
    }

    @Test("a transfer can be offered again, by its peer, until everything accepted is stored")
    mutating func resuming() {
        let offer = Offer.sample()
        receive(offer)
        _ = ledger.end(offer.transfer, from: Self.peer, receipt(offer, isStored: false))
        let other = admit(offer, from: .sample(2))?.answer
        #expect(other == .declined)
        receive(offer)
        _ = ledger.end(offer.transfer, from: Self.peer, receipt(offer))
        let own = admit(offer)?.answer
        #expect(own == .declined)
    }

    @Test("a transfer that could not go on can be offered again")
    mutating func abandoned() {
        let offer = Offer.sample()
        receive(offer)
        _ = ledger.abandon(offer.transfer)
        #expect(ledger.openTransfers(at: start) == 0)
        let refusal = admit(offer)
        #expect(refusal == nil)
    }

    @Test("bytes under way are those of accepted and running transfers, without overflow")
    mutating func underWay() {
        let (first, second) = (Offer.sample(), Offer.sample())
        accept(first)
        receive(second)
        #expect(ledger.underWay(at: start) { _, _ in 5 } == 10)
        #expect(ledger.underWay(besides: second.transfer, at: start) { _, _ in 5 } == 5)
        #expect(ledger.underWay(at: start + .seconds(60)) { _, _ in 5 } == 5)
        #expect(ledger.underWay(at: start) { _, _ in .max } == .max)
    }

    @Test("a receipt is its peer's alone, and there is none before the transfer has ended")
    mutating func receipts() {
        let offer = Offer.sample()
        func name(_ lookup: TransferLedger.ReceiptLookup) -> String {
            switch lookup {
            case .unknown: "unknown"
            case .none: "none"
            case .waiting: "waiting"
            case .receipt(let found): found == receipt(offer) ? "receipt" : "another"
            }
        }
        var found = [name(ledger.receipt(of: offer.transfer, from: Self.peer, waiter: nil))]
        receive(offer)
        found.append(name(ledger.receipt(of: offer.transfer, from: Self.peer, waiter: nil)))
        _ = ledger.end(offer.transfer, from: Self.peer, receipt(offer))
        found.append(name(ledger.receipt(of: offer.transfer, from: .sample(2), waiter: 1)))
        found.append(name(ledger.receipt(of: offer.transfer, from: Self.peer, waiter: 1)))
        #expect(found == ["unknown", "none", "none", "receipt"])
    }

    @Test("tasks that wait for handlers get the receipt with the last answer, or as it is when the receiver stops")
    mutating func waiting() {
        for isStopped in [false, true] {
            let offer = Offer.sample()
            receive(offer)
            _ = ledger.note(HandlerAnswer(.pending), for: arrival(offer))
            _ = ledger.end(offer.transfer, from: Self.peer, receipt(offer))
            for waiter in 1...3 { _ = ledger.receipt(of: offer.transfer, from: Self.peer, waiter: waiter) }
            ledger.forget(waiter: 2, of: offer.transfer)
            let answered = isStopped ? ledger.stop().first : ledger.note(HandlerAnswer(.yes), for: arrival(offer))
            #expect(answered?.waiters == [1, 3])
            #expect(answered?.receipt.items[0].handler.state == (isStopped ? .pending : .yes))
        }
    }

    @Test("an answer about an attempt with another number of items, or about another peer's, changes no receipt")
    mutating func otherCount() {
        let offer = Offer.sample()
        receive(offer)
        var facts = arrival(offer).facts
        (facts.itemNumber, facts.itemsInOffer) = (2, 3)
        let stored = StoredItem(name: safe("a"), path: "/a")
        let early = ledger.note(
            HandlerAnswer(.yes), for: Arrival(number: ArrivalNumber(2), facts: facts, stored: stored))
        facts = arrival(offer).facts
        facts.peer = .sample(2)
        let foreign = ledger.note(
            HandlerAnswer(.yes), for: Arrival(number: ArrivalNumber(3), facts: facts, stored: stored))
        let ended = ledger.end(offer.transfer, from: Self.peer, receipt(offer))
        #expect(early?.waiters == nil && foreign?.waiters == nil && ended.receipt == receipt(offer))
    }
}
