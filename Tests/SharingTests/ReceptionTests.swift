import Digests
import Sharing
import Synchronization
import TestSupport
import Testing

/// A reception with its fakes, and its reports.
struct Receiver {
    let inbox: MemoryInbox
    let consent: ScriptedConsent
    let delivery: RecordingDelivery
    let journal: MemoryJournal
    let events = Recorder<Reception.Event>()
    let reception: Reception

    init(
        _ answer: ScriptedConsent.Answer = .accept,
        inbox: MemoryInbox = MemoryInbox(),
        journal: MemoryJournal = MemoryJournal(),
        delivery: RecordingDelivery.Behaviour = .none,
        refusal: @escaping @Sendable (OfferedItem) -> String? = { _ in nil },
        consentWait: Duration = .seconds(3_600)
    ) {
        self.inbox = inbox
        self.journal = journal
        consent = ScriptedConsent(answer)
        self.delivery = RecordingDelivery(delivery)
        reception = Reception(
            inbox: inbox, journal: journal, gate: ScriptedGate(), consent: consent, delivery: self.delivery,
            refusal: refusal,
            consentWait: consentWait,
            observe: { [events] in events.record($0) }
        )
    }

    static let peer = PeerID.sample(1)
    static let other = PeerID.sample(2)

    func judge(_ offer: Offer, from peer: PeerID = Receiver.peer) async -> [ItemVerdict.Answer] {
        await reception.judge(offer, from: peer).items.map(\.answer)
    }

    /// Sends the whole of an offer made by `Offer.sample`, without ending the transfer.
    func contents(of offer: Offer, from peer: PeerID = Receiver.peer) throws -> (IncomingTransfer, Receipt) {
        let transfer = try reception.begin(offer.transfer, from: peer)
        let bytes = Array("hello".utf8)
        let digest = Digest.of(.xxh3_128, bytes)
        for number in offer.items.indices {
            try transfer.beginItem(number)
            try transfer.beginFile(FileEntry(path: nil, executable: false, modified: nil, size: 5))
            try bytes.withUnsafeBytes { bytes in try transfer.write(bytes) }
            try transfer.endFile(digest: digest)
            try transfer.endItem(digest: digest)
        }
        return (transfer, try transfer.finish())
    }

    /// The whole way of an offer: asked, accepted, sent, ended.
    @discardableResult
    func receive(_ offer: Offer, from peer: PeerID = Receiver.peer) async throws -> Receipt {
        _ = await reception.judge(offer, from: peer)
        let (transfer, receipt) = try contents(of: offer, from: peer)
        return reception.end(transfer, receipt, fault: nil)
    }

    /// An accepted offer whose contents break off at once.
    func breakOff(_ offer: Offer) async throws {
        _ = await judge(offer)
        let transfer = try reception.begin(offer.transfer, from: Receiver.peer)
        let fault = TransferError(.interrupted, "gone")
        reception.end(transfer, transfer.fail(fault), fault: fault)
    }

    /// The events of a kind, as words.
    var words: [String] {
        events.all.flatMap { event in
            switch event {
            case .offered: ["offered"]
            case .judged: ["judged"]
            case .began: ["began"]
            case .progressed: ["progressed"]
            case .stored(let arrivals): arrivals.map { _ in "stored" }
            case .opened: ["opened"]
            case .ended: ["ended"]
            }
        }
    }
}

@Suite("Offers at the reception", .timeLimit(.minutes(1)))
struct ReceptionOfferTests {
    @Test("an accepted item can be sent, and is stored")
    func wholeWay() async throws {
        let receiver = Receiver()
        let offer = Offer.sample(items: 2)
        let receipt = try await receiver.receive(offer)
        #expect(receiver.inbox.names == ["file-0", "file-1"])
        let digest = Digest.of(.xxh3_128, Array("hello".utf8))
        #expect(
            receipt.items.map(\.outcome) == [
                .stored(name: "file-0", size: 5, digest: digest), .stored(name: "file-1", size: 5, digest: digest),
            ])
        #expect(receipt.items.map(\.handler.state) == [.none, .none])
        // The number of progress reports depends on time.
        let words = receiver.words.filter { $0 != "progressed" }
        #expect(words == ["offered", "judged", "began", "stored", "stored", "ended"])
        #expect(receiver.words[3] == "progressed")
    }

    @Test("items that the journal could not record are recorded and delivered once when it can be written again")
    func settledLater() async throws {
        let isBroken = Mutex(true)
        let journal = MemoryJournal(fault: { operation in
            guard case .settle = operation, isBroken.withLock({ $0 }) else { return nil }
            return TransferError(.storage, "input/output error")
        })
        let receiver = Receiver(journal: journal, delivery: .later)
        _ = try await receiver.receive(.sample(items: 2))
        #expect(receiver.reception.unsettledItems == 2)
        receiver.reception.settleAgain()
        #expect((receiver.reception.unsettledItems, receiver.delivery.arrivals.count) == (2, 0))
        let endings = receiver.delivery.ended.count
        isBroken.withLock { $0 = false }
        receiver.reception.settleAgain()
        receiver.reception.settleAgain()
        #expect((receiver.reception.unsettledItems, journal.unsettled.count) == (0, 0))
        // The handlers of whole transfers hear that no more items come: at the end, and again after the late ones.
        #expect(receiver.delivery.ended.count > endings)
        #expect(receiver.delivery.arrivals.all.map(\.stored.name.text) == ["file-0", "file-1"])
    }

    @Test("items that the journal recorded before it reported a fault are delivered once")
    func settledWithFault() async throws {
        let journal = MemoryJournal(fault: { operation in
            guard case .settled = operation else { return nil }
            return TransferError(.storage, "input/output error")
        })
        let receiver = Receiver(journal: journal, delivery: .later)
        _ = try await receiver.receive(.sample(items: 2))
        #expect(receiver.reception.unsettledItems == 2)
        receiver.reception.settleAgain()
        receiver.reception.settleAgain()
        #expect(receiver.reception.unsettledItems == 0)
        #expect(receiver.delivery.arrivals.all.map(\.stored.name.text) == ["file-0", "file-1"])
    }

    @Test("the consent gets the peer, the items, and the free room")
    func question() async throws {
        let receiver = Receiver(inbox: MemoryInbox(freeRoom: 77))
        let offer = Offer.sample()
        _ = await receiver.judge(offer)
        let question = try #require(receiver.consent.asked.all.first)
        #expect((question.peer, question.freeRoom) == (Receiver.peer, 77))
        #expect(question.offer.transfer == offer.transfer)
    }

    @Test("the verdict names the sender's first digest")
    func digest() async throws {
        var offer = Offer.sample()
        offer.digests = [.sha256, .xxh3_128]
        #expect(await Receiver().reception.judge(offer, from: Receiver.peer).digest == .sha256)
    }

    @Test("a declined item cannot be sent")
    func declined() async throws {
        let receiver = Receiver(.decline)
        let offer = Offer.sample()
        #expect(await receiver.judge(offer) == [.declined])
        expectNotAccepted { try receiver.reception.begin(offer.transfer, from: Receiver.peer) }
        #expect(receiver.inbox.everStagedCount == 0)
    }

    @Test("an offer that is not answered in time is expired, and the question withdrawn")
    func expired() async throws {
        let receiver = Receiver(.never, consentWait: .zero)
        let offer = Offer.sample(items: 2)
        #expect(await receiver.judge(offer) == [.expired, .expired])
        try await receiver.consent.withdrawn.first { $0 == offer.transfer }
        expectNotAccepted { try receiver.reception.begin(offer.transfer, from: Receiver.peer) }
    }

    @Test("an offer that is withdrawn is not asked about any longer, and not accepted")
    func withdrawn() async throws {
        let receiver = Receiver(.never)
        let offer = Offer.sample()
        let task = Task { await receiver.judge(offer) }
        try await receiver.consent.asked.first()
        task.cancel()
        #expect(await task.value == [.expired])
        try await receiver.consent.withdrawn.first { $0 == offer.transfer }
        expectNotAccepted { try receiver.reception.begin(offer.transfer, from: Receiver.peer) }
    }

    @Test(
        "an offer that ends before its answer has the cause that its dialect knows, unless the receiver is stopping",
        arguments: [EndCause.senderCancelled, .fault, .timeout], [false, true])
    func withdrawnCause(known: EndCause, isStopping: Bool) async throws {
        let receiver = Receiver(.never)
        let offer = Offer.sample()
        let task = Task { await receiver.reception.judge(offer, from: Visitor(Receiver.peer)) { known } }
        try await receiver.consent.asked.first()
        if isStopping { receiver.reception.stop() }
        task.cancel()
        let cause = isStopping ? EndCause.receiverStopped : known
        #expect(await task.value.items == [.unanswered(cause)])
    }

    @Test("an offer expires with the wait of its sender, and not later than with the receiver's")
    func senderWait() async {
        for (own, others) in [(Duration.seconds(3_600), Duration.zero), (.zero, .seconds(3_600))] {
            var offer = Offer.sample()
            offer.wait = others
            let verdict = await Receiver(.never, consentWait: own).reception.judge(offer, from: Receiver.peer)
            #expect(verdict.items.map(\.cause) == [.timeout])
            #expect(verdict.items.map(\.reason) == [EndCause.nobodyAnswered(within: .zero)])
        }
    }

    @Test("a yes that comes when the sender has left opens nothing")
    func yesTooLate() async throws {
        let receiver = Receiver(.later)
        let offer = Offer.sample()
        let left = Gate()
        let task = Task {
            let verdict = await receiver.reception.judge(offer, from: Receiver.peer)
            return (verdict, left.isOpen)
        }
        try await receiver.consent.asked.first()
        left.open()
        task.cancel()
        receiver.consent.answer(accept: true)
        _ = await task.value
        expectNotAccepted { try receiver.reception.begin(offer.transfer, from: Receiver.peer) }
    }

    @Test("a sender that leaves after the yes and before its answer leaves no transfer behind")
    func leftAfterYes() async throws {
        let judging = Mutex<Task<Verdict, Never>?>(nil)
        let (begun, ends) = (Gate(), Recorder<TransferError?>())
        let reception = Reception(
            inbox: MemoryInbox(), journal: MemoryJournal(), gate: ScriptedGate(), consent: ScriptedConsent(.accept),
            delivery: RecordingDelivery(),
            observe: { event in
                if case .judged = event { judging.withLock { $0?.cancel() } }
                if case .ended(_, _, _, let fault) = event { ends.record(fault) }
            })
        let offer = Offer.sample()
        let task = Task {
            await begun.wait()
            return await reception.judge(offer, from: Visitor(Receiver.peer))
        }
        judging.withLock { $0 = task }
        begun.open()
        #expect(await task.value.items.map(\.answer) == [.expired])
        #expect(reception.underWay.isEmpty)
        // The observers have heard of the acceptance.
        #expect(ends.all.map { $0?.message } == ["the sender cancelled"])
        expectNotAccepted { try reception.begin(offer.transfer, from: Receiver.peer) }
    }

    @Test("an offer that does not fit is answered without a question")
    func noRoom() async throws {
        let receiver = Receiver(inbox: MemoryInbox(freeRoom: 9))
        let verdict = await receiver.reception.judge(.sample(items: 2, size: 5), from: Receiver.peer)
        #expect(verdict.items.map(\.answer) == [.noRoom, .noRoom])
        #expect(verdict.items[0].reason == "10 bytes offered, 9 bytes free")
        #expect(receiver.consent.asked.count == 0)
        #expect(await receiver.judge(.sample(items: 2, size: nil)) == [.accepted, .accepted])
    }

    @Test("an Inbox that cannot be reached has no room")
    func noInbox() async throws {
        let gone = TransferError(.storage, "the Inbox is gone")
        let receiver = Receiver(inbox: MemoryInbox { $0 == .freeRoom ? gone : nil })
        let verdict = await receiver.reception.judge(.sample(), from: Receiver.peer)
        #expect(verdict.items == [ItemVerdict(.noRoom, reason: "the Inbox is gone")])
    }

    @Test("a consent with too few or too many answers counts as none", arguments: [0, 1, 3])
    func wrongCount(count: Int) async throws {
        let receiver = Receiver(.items(Array(repeating: .accepted, count: count)))
        #expect(await receiver.judge(.sample(items: 2)) == [.expired, .expired])
    }

    @Test("a transfer id can be offered again by its peer until all is stored, and never by another")
    func idTwice() async throws {
        let receiver = Receiver()
        let accepted = Offer.sample()
        #expect(await receiver.judge(accepted) == [.accepted])
        #expect(await receiver.judge(accepted) == [.accepted])
        #expect(await receiver.judge(accepted, from: Receiver.other) == [.declined])
        let (transfer, receipt) = try receiver.contents(of: accepted)
        #expect(await receiver.judge(accepted) == [.busy])
        #expect(await receiver.judge(accepted, from: Receiver.other) == [.declined])
        receiver.reception.end(transfer, receipt, fault: nil)
        #expect(await receiver.judge(accepted) == [.declined])
        #expect(await receiver.judge(accepted, from: Receiver.other) == [.declined])
    }

    @Test("a transfer that comes again with another number of items, after a restart, ends no receiver")
    func otherCount() async throws {
        let (inbox, journal, id) = (MemoryInbox(), MemoryJournal(), TransferID())
        for items in [1, 3] {
            _ = try await Receiver(inbox: inbox, journal: journal).receive(.sample(items: items, transfer: id))
        }
        let receipt = await Receiver(inbox: inbox, journal: journal).reception
            .receipt(of: id, from: Receiver.peer, answered: false)
        #expect(receipt?.items.allSatisfy(\.isStored) == true)
    }

    @Test("a transfer id that waits for consent is not offered again")
    func idWaiting() async throws {
        let receiver = Receiver(.later)
        let offer = Offer.sample()
        async let first = receiver.judge(offer)
        try await receiver.consent.asked.first()
        #expect(await receiver.judge(offer) == [.declined])
        receiver.consent.answer(accept: true)
        #expect(await first == [.accepted])
    }

    @Test("a peer has at most four offers waiting, and another peer is not held up by it")
    func waitingPerPeer() async throws {
        let receiver = Receiver(.later)
        try await withThrowingTaskGroup(of: [ItemVerdict.Answer].self) { group in
            for _ in 0..<Limits.waitingOffersPerPeer { group.addTask { await receiver.judge(.sample()) } }
            try await receiver.consent.asked.element(Limits.waitingOffersPerPeer)
            #expect(await receiver.judge(.sample()) == [.busy])
            group.addTask { await receiver.judge(.sample(), from: Receiver.other) }
            try await receiver.consent.asked.element(Limits.waitingOffersPerPeer + 1)
            receiver.consent.answer(accept: true)
            for try await answers in group { #expect(answers == [.accepted]) }
        }
    }

    @Test("at most 64 offers wait in all, however many peers there are")
    func waitingInAll() async throws {
        let receiver = Receiver(.later)
        try await withThrowingTaskGroup(of: [ItemVerdict.Answer].self) { group in
            for number in 0..<UInt8(Limits.waitingOffers) {
                group.addTask { await receiver.judge(.sample(), from: .sample(number)) }
            }
            try await receiver.consent.asked.element(Limits.waitingOffers)
            #expect(await receiver.judge(.sample(), from: .sample(200)) == [.busy])
            receiver.consent.answer(accept: false)
            for try await answers in group { #expect(answers == [.declined]) }
            #expect(receiver.consent.asked.count == Limits.waitingOffers)
        }
    }

    @Test("a peer has at most sixteen transfers open, and room again when one has ended")
    func openTransfers() async throws {
        let receiver = Receiver()
        let first = Offer.sample()
        _ = await receiver.judge(first)
        for _ in 1..<Limits.openTransfersPerPeer { #expect(await receiver.judge(.sample()) == [.accepted]) }
        #expect(await receiver.judge(.sample()) == [.busy])
        #expect(await receiver.judge(.sample(), from: Receiver.other) == [.accepted])
        let (transfer, receipt) = try receiver.contents(of: first)
        #expect(await receiver.judge(.sample()) == [.busy])
        receiver.reception.end(transfer, receipt, fault: nil)
        #expect(await receiver.judge(.sample()) == [.accepted])
    }

    @Test("the items of all open offers are bounded, however many keys a stranger makes")
    func openItems() async throws {
        let receiver = Receiver()
        let many = Offer.sample(items: Limits.items)
        for number in 0..<UInt8(Limits.openItems / Limits.items) {
            var offer = many
            offer.transfer = TransferID()
            #expect(await receiver.judge(offer, from: .sample(number))[0] == .accepted)
        }
        #expect(await receiver.judge(.sample(), from: .sample(100)) == [.busy])
    }

    @Test("when the receiver stops, no offer is taken and none that was accepted can begin")
    func stop() async throws {
        let receiver = Receiver()
        let accepted = Offer.sample()
        _ = await receiver.judge(accepted)
        receiver.reception.stop()
        #expect(await receiver.judge(.sample()) == [.busy])
        expectNotAccepted { try receiver.reception.begin(accepted.transfer, from: Receiver.peer) }
    }

    @Test("an offer accepted while the receiver stops is not called accepted")
    func stopWhileWaiting() async throws {
        let receiver = Receiver(.later)
        async let answers = receiver.judge(.sample())
        try await receiver.consent.asked.first()
        receiver.reception.stop()
        receiver.consent.answer(accept: true)
        #expect(await answers == [.busy])
    }
}

@Suite("Contents at the reception", .timeLimit(.minutes(1)))
struct ReceptionContentsTests {
    @Test("contents without an offer are refused")
    func withoutOffer() {
        let receiver = Receiver()
        expectNotAccepted { try receiver.reception.begin(TransferID(), from: Receiver.peer) }
    }

    @Test("contents before the verdict are refused")
    func beforeVerdict() async throws {
        let receiver = Receiver(.later)
        let offer = Offer.sample()
        async let answers = receiver.judge(offer)
        try await receiver.consent.asked.first()
        expectNotAccepted { try receiver.reception.begin(offer.transfer, from: Receiver.peer) }
        receiver.consent.answer(accept: true)
        #expect(await answers == [.accepted])
    }

    @Test("another peer's transfer is refused, and stays open for the peer whose it is")
    func anotherPeer() async throws {
        let receiver = Receiver()
        let offer = Offer.sample()
        _ = await receiver.judge(offer)
        expectNotAccepted { try receiver.reception.begin(offer.transfer, from: Receiver.other) }
        _ = try receiver.contents(of: offer)
        #expect(receiver.inbox.names == ["file-0"])
    }

    @Test("contents come once, also after a fault")
    func twice() async throws {
        let receiver = Receiver()
        let offer = Offer.sample()
        _ = await receiver.judge(offer)
        let transfer = try receiver.reception.begin(offer.transfer, from: Receiver.peer)
        expectNotAccepted { try receiver.reception.begin(offer.transfer, from: Receiver.peer) }
        let fault = TransferError(.interrupted, "gone")
        receiver.reception.end(transfer, transfer.fail(fault), fault: fault)
        expectNotAccepted { try receiver.reception.begin(offer.transfer, from: Receiver.peer) }
        #expect(receiver.inbox.stagedCount == 0)
    }

    @Test("contents of an item that was declined are refused while the others are taken")
    func declinedItem() async throws {
        let receiver = Receiver(.items([ItemVerdict(.declined), .accepted]))
        let offer = Offer.sample(items: 2)
        _ = await receiver.judge(offer)
        let transfer = try receiver.reception.begin(offer.transfer, from: Receiver.peer)
        let fault = #expect(throws: TransferError.self) { try transfer.beginItem(0) }
        #expect(fault?.code == .notAccepted)
        #expect(receiver.inbox.everStagedCount == 0)
    }
}

@Suite("Receipts at the reception", .timeLimit(.minutes(1)))
struct ReceptionReceiptTests {
    private let yes = HandlerAnswer(.yes, exitCode: 0)

    @Test("a receipt can be requested again, by the peer of the transfer and no other")
    func again() async throws {
        let receiver = Receiver()
        let offer = Offer.sample()
        let receipt = try await receiver.receive(offer)
        let reception = receiver.reception
        #expect(await reception.receipt(of: offer.transfer, from: Receiver.peer, answered: false) == receipt)
        #expect(await reception.receipt(of: offer.transfer, from: Receiver.peer, answered: true) == receipt)
        #expect(await reception.receipt(of: offer.transfer, from: Receiver.other, answered: false) == nil)
        #expect(await reception.receipt(of: TransferID(), from: Receiver.peer, answered: true) == nil)
    }

    @Test("there is no receipt of a transfer that has not ended, even when a handler has answered")
    func notEnded() async throws {
        let receiver = Receiver(delivery: .answering(yes))
        let offer = Offer.sample()
        _ = await receiver.judge(offer)
        let (transfer, receipt) = try receiver.contents(of: offer)
        try await receiver.events.first { if case .opened = $0 { true } else { false } }
        #expect(await receiver.reception.receipt(of: offer.transfer, from: Receiver.peer, answered: false) == nil)
        receiver.reception.end(transfer, receipt, fault: nil)
        let asked = await receiver.reception.receipt(of: offer.transfer, from: Receiver.peer, answered: true)
        #expect(asked?.items[0].handler == yes)
    }

    @Test("a handler that answers before the transfer ends is in its receipt")
    func answersEarly() async throws {
        let receiver = Receiver(delivery: .later)
        let offer = Offer.sample(items: 600)
        _ = await receiver.judge(offer)
        let (transfer, receipt) = try receiver.contents(of: offer)
        try await receiver.delivery.arrivals.first { $0.itemNumber == 3 }
        receiver.delivery.answer(item: 3, yes)
        try await receiver.events.first {
            if case .opened(let arrival, _) = $0 { arrival.itemNumber == 3 } else { false }
        }
        let ended = receiver.reception.end(transfer, receipt, fault: nil)
        #expect(ended.items[3].handler == yes)
        #expect(ended.items[4].handler == HandlerAnswer(.pending))
        try await receiver.delivery.arrivals.element(600)
        for item in 0..<600 where item != 3 { receiver.delivery.answer(item: item, HandlerAnswer(.no, exitCode: 1)) }
        let answered = await receiver.reception.receipt(of: offer.transfer, from: Receiver.peer, answered: true)
        #expect(answered?.items[3].handler == yes)
        #expect(answered?.items[4].handler == HandlerAnswer(.no, exitCode: 1))
    }

    @Test("a receipt that shall wait for handlers waits for the last one, and every waiting request gets it")
    func waits() async throws {
        let receiver = Receiver(delivery: .later)
        let offer = Offer.sample(items: 2)
        try await receiver.receive(offer)
        try await receiver.delivery.arrivals.element(2)
        let reception = receiver.reception
        async let first = reception.receipt(of: offer.transfer, from: Receiver.peer, answered: true)
        async let second = reception.receipt(of: offer.transfer, from: Receiver.peer, answered: true)
        let now = await reception.receipt(of: offer.transfer, from: Receiver.peer, answered: false)
        #expect(now?.items.map(\.handler.state) == [.pending, .pending])
        receiver.delivery.answer(item: 1, HandlerAnswer(.failed, exitCode: 75))
        receiver.delivery.answer(item: 0, yes)
        for receipt in await [first, second] {
            #expect(receipt?.items.map(\.handler) == [yes, HandlerAnswer(.failed, exitCode: 75)])
        }
    }

    @Test("a peer that leaves while waiting for a receipt gets none, and delays no other")
    func cancelledWait() async throws {
        let receiver = Receiver(delivery: .later)
        let offer = Offer.sample()
        try await receiver.receive(offer)
        try await receiver.delivery.arrivals.element(1)
        let task = Task { await receiver.reception.receipt(of: offer.transfer, from: Receiver.peer, answered: true) }
        task.cancel()
        #expect(await task.value == nil)
        receiver.delivery.answer(item: 0, yes)
        let receipt = await receiver.reception.receipt(of: offer.transfer, from: Receiver.peer, answered: true)
        #expect(receipt?.items[0].handler == yes)
    }

    @Test("when the receiver stops, waiting peers get the receipts so far, and none waits any more")
    func stop() async throws {
        let receiver = Receiver(delivery: .later)
        let offer = Offer.sample()
        try await receiver.receive(offer)
        try await receiver.delivery.arrivals.element(1)
        let reception = receiver.reception
        async let waiting = reception.receipt(of: offer.transfer, from: Receiver.peer, answered: true)
        reception.stop()
        #expect(await waiting?.items[0].handler == HandlerAnswer(.pending))
        let later = await reception.receipt(of: offer.transfer, from: Receiver.peer, answered: true)
        #expect(later?.items[0].handler == HandlerAnswer(.pending))
        receiver.delivery.answer(item: 0, yes)
    }

    @Test("a handler continues when its sender has left")
    func senderLeft() async throws {
        let receiver = Receiver(delivery: .later)
        let offer = Offer.sample(items: 513)
        _ = await receiver.judge(offer)
        let (transfer, _) = try receiver.contents(of: offer)
        let gone = TransferError(.interrupted, "gone")
        receiver.reception.end(transfer, transfer.fail(gone), fault: gone)
        try await receiver.delivery.arrivals.first { $0.itemNumber == 0 }
        receiver.delivery.answer(item: 0, yes)
        try await receiver.events.first { if case .opened(_, let answer) = $0 { answer == yes } else { false } }
    }

    @Test("at least 1,024 receipts are remembered; the journal has the stored items of older ones")
    func remembered() async throws {
        let receiver = Receiver()
        let reception = receiver.reception
        let offers = (0...Limits.rememberedReceipts).map { _ in Offer.sample() }
        try await receiver.receive(offers[0])
        // The journal of tests is slow with many items.
        for offer in offers.dropFirst() { try await receiver.breakOff(offer) }
        let first = await reception.receipt(of: offers[0].transfer, from: Receiver.peer, answered: false)
        #expect(first?.items.map(\.isStored) == [true])
        #expect(await reception.receipt(of: offers[0].transfer, from: Receiver.other, answered: false) == nil)
        for offer in offers.dropFirst() {
            #expect(await reception.receipt(of: offer.transfer, from: Receiver.peer, answered: false) != nil)
        }
    }

    @Test("a receipt with a waiting peer is not forgotten")
    func waitedFor() async throws {
        let receiver = Receiver(delivery: .later)
        let first = Offer.sample()
        try await receiver.receive(first)
        try await receiver.delivery.arrivals.element(1)
        async let waiting = receiver.reception.receipt(of: first.transfer, from: Receiver.peer, answered: true)
        for _ in 0...Limits.rememberedReceipts {
            try await receiver.breakOff(Offer.sample(items: 1))
        }
        receiver.delivery.answer(item: 0, yes)
        #expect(await waiting?.items[0].handler == yes)
    }
}

func expectNotAccepted(
    _ begin: () throws -> IncomingTransfer,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let fault = #expect(throws: TransferError.self, sourceLocation: sourceLocation) { _ = try begin() }
    #expect(fault?.code == .notAccepted, sourceLocation: sourceLocation)
}
