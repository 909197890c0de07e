import Digests
import Synchronization
import TestSupport
import Testing

@testable import Sharing

/// Marks in memory, as a disk would keep them over a restart.
private final class Marks: ConsentMarking {
    private let marks = Mutex<[ConsentKey: ConsentMark]>([:])
    private let isGone = Mutex(false)

    var count: Int { marks.withLock { $0.count } }

    func mark(of key: ConsentKey) -> ConsentMark? { marks.withLock { $0[key] } }
    func setMark(of key: ConsentKey, _ mark: ConsentMark?) {
        if isGone.withLock({ $0 }) { return }
        marks.withLock { $0[key] = mark }
    }
    func changeMarks(_ change: (ConsentMark) -> ConsentMark?) {
        marks.withLock { $0 = $0.compactMapValues(change) }
    }

    /// From here on nothing is written down, until the restart.
    func crash(_ isGone: Bool = true) { self.isGone.withLock { $0 = isGone } }
}

private let hello = Array("hello".utf8)
private let gone = TransferError(.interrupted, "gone")

/// A receiver that asks once, whose consents, journal and Inbox outlive it.
private final class Asking: Sendable {
    let marks: Marks
    let inbox = MemoryInbox()
    let journal = MemoryJournal()
    let events = Recorder<Reception.Event>()
    let consent: ScriptedConsent
    private let reception: Mutex<Reception>

    init(_ answer: ScriptedConsent.Answer = .accept) {
        let (marks, consent) = (Marks(), ScriptedConsent(answer))
        self.marks = marks
        self.consent = consent
        reception = Mutex(Self.reception(marks, consent, inbox, journal, events))
    }

    var current: Reception { reception.withLock { $0 } }

    func restart() {
        marks.crash(false)
        let next = Self.reception(marks, consent, inbox, journal, events)
        reception.withLock { $0 = next }
    }

    private static func reception(
        _ marks: Marks, _ consent: ScriptedConsent, _ inbox: MemoryInbox, _ journal: MemoryJournal,
        _ events: Recorder<Reception.Event>
    ) -> Reception {
        let memory = ConsentMemory(marks)
        memory.mend(by: journal)
        return Reception(
            inbox: inbox, journal: journal, gate: ScriptedGate(), consent: memory.wrapping(consent),
            delivery: RecordingDelivery(.none),
            memory: memory, observe: { events.record($0) })
    }

    /// Offers, sends this number of items whole and breaks off in the next one, or ends.
    /// - Parameter crashing: whether the end is no longer recorded with the consent.
    /// - Returns: the answers; nothing is sent if nothing was accepted.
    @discardableResult
    func attempt(
        _ offer: Offer, items: Int, from peer: PeerID = .sample(1), crashing: Bool = false
    ) async throws -> [ItemVerdict.Answer] {
        let reception = current
        let verdict = await reception.judge(offer, from: peer)
        guard verdict.acceptsAnything else { return verdict.items.map(\.answer) }
        let transfer = try reception.begin(offer.transfer, from: peer)
        if crashing { marks.crash() }
        for number in 0..<items {
            try transfer.beginItem(number)
            try transfer.beginFile(FileEntry(path: nil, executable: false, modified: nil, size: 5))
            try hello.withUnsafeBytes { bytes in try transfer.write(bytes) }
            try transfer.endFile(digest: .of(.xxh3_128, hello))
            try transfer.endItem(digest: .of(.xxh3_128, hello))
        }
        if items == offer.items.count {
            reception.end(transfer, try transfer.finish(), fault: nil)
        } else {
            try transfer.beginItem(items)
            reception.end(transfer, transfer.fail(gone), fault: gone)
        }
        return verdict.items.map(\.answer)
    }

    func again(_ offer: Offer) -> Offer {
        Offer(items: offer.items, annotation: offer.annotation, senderName: offer.senderName)
    }
}

@Suite("Consent that was given once")
struct ConsentMemoryTests {
    @Test("holds for another attempt at the same items, also after a restart, until all are there")
    func holds() async throws {
        let receiver = Asking()
        let offer = Offer.sample(items: 3)
        try await receiver.attempt(offer, items: 1)
        try await receiver.attempt(receiver.again(offer), items: 0)
        receiver.restart()
        #expect(receiver.consent.asked.count == 1 && receiver.marks.count == 1)
        #expect(try await receiver.attempt(receiver.again(offer), items: 3) == [.accepted, .accepted, .accepted])
        #expect(receiver.consent.asked.count == 1 && receiver.marks.count == 0)
        try await receiver.attempt(receiver.again(offer), items: 0)
        #expect(receiver.consent.asked.count == 2)
    }

    @Test("is none for other items, another note, or another peer")
    func others() async throws {
        let receiver = Asking()
        let offer = Offer.sample(items: 2)
        try await receiver.attempt(offer, items: 0)
        try await receiver.attempt(.sample(items: 3), items: 0)
        try await receiver.attempt(.sample(items: 2, size: 6), items: 0)
        var noted = receiver.again(offer)
        noted.annotation = ["note": "hi"]
        try await receiver.attempt(noted, items: 0)
        try await receiver.attempt(receiver.again(offer), items: 0, from: .sample(2))
        #expect(receiver.consent.asked.count == 5)
    }

    @Test("is not remembered for a peer that cannot be known again: it would only fill the disk")
    func unknowable() async throws {
        let receiver = Asking()
        var offer = Offer.sample(items: 2)
        offer.dialect = .keyless
        try await receiver.attempt(offer, items: 1)
        #expect(receiver.consent.asked.count == 1 && receiver.marks.count == 0)
    }

    @Test("is used up by the number of offered items: one yes does not fill the Inbox")
    func usedUp() async throws {
        let receiver = Asking()
        let offer = Offer.sample(items: 3)
        try await receiver.attempt(offer, items: 2)
        try await receiver.attempt(receiver.again(offer), items: 2)
        #expect(receiver.consent.asked.count == 1 && receiver.marks.count == 0)
        try await receiver.attempt(receiver.again(offer), items: 2)
        #expect(receiver.consent.asked.count == 2)
    }

    @Test("is taken back at the next start where a crash came between the last item and that")
    func crashedAtTheEnd() async throws {
        let receiver = Asking()
        let offer = Offer.sample(items: 3)
        // All at once; then in three attempts, the second of which ends in a crash too.
        try await receiver.attempt(offer, items: 3, crashing: true)
        #expect(receiver.marks.count == 1)
        receiver.restart()
        #expect(receiver.marks.count == 0 && receiver.consent.asked.count == 1)
        let other = Offer.sample(items: 3, size: 5)
        try await receiver.attempt(receiver.again(other), items: 1)
        let again = receiver.again(other)
        try await receiver.attempt(again, items: 1, crashing: true)
        receiver.restart()
        #expect(receiver.marks.count == 1)
        try await receiver.attempt(receiver.again(other), items: 1, crashing: true)
        receiver.restart()
        #expect(receiver.marks.count == 0)
        #expect(receiver.consent.asked.count == 2)
    }

    @Test("is not remembered before contents have begun, nor where not all was accepted")
    func notRemembered() async throws {
        let receiver = Asking()
        _ = await receiver.current.judge(.sample(), from: .sample(1))
        #expect(receiver.marks.count == 0)
        let partly = Asking(.items([.accepted, ItemVerdict(.declined)]))
        let offer = Offer.sample(items: 2)
        _ = await partly.current.judge(offer, from: .sample(1))
        let transfer = try partly.current.begin(offer.transfer, from: .sample(1))
        partly.current.end(transfer, transfer.fail(gone), fault: gone)
        #expect(partly.marks.count == 0)
    }
}

@Suite("A transfer that the user cancels")
struct CancelledTransferTests {
    @Test("ends its connection, is over with that reason, and is declined when its sender offers it again")
    func receiving() async throws {
        let receiver = Asking()
        let offer = Offer.sample(items: 2)
        let interrupted = Recorder<Void>()
        _ = await receiver.current.judge(offer, from: .sample(1))
        let transfer = try receiver.current.begin(offer.transfer, from: .sample(1)) { interrupted.record(()) }
        #expect(receiver.current.underWay.map(\.offer.transfer) == [offer.transfer])
        #expect(receiver.current.cancel(offer.transfer))
        #expect(interrupted.count == 1)
        receiver.current.end(transfer, transfer.fail(gone), fault: gone)
        guard case .ended(_, _, _, let fault)? = receiver.events.all.last else {
            Issue.record("it is not over")
            return
        }
        #expect(fault?.code == .cancelled)
        let again = await receiver.current.judge(offer, from: .sample(1))
        #expect(again.items.map(\.answer) == [.declined, .declined])
        #expect(!receiver.current.cancel(offer.transfer))
    }

    @Test("is over at once if its contents have not begun, and the consent to it is forgotten")
    func waiting() async throws {
        let receiver = Asking()
        let offer = Offer.sample(items: 2)
        _ = await receiver.current.judge(offer, from: .sample(1))
        #expect(receiver.current.cancel(offer.transfer))
        guard case .ended(_, _, _, let fault)? = receiver.events.all.last else {
            Issue.record("it is not over")
            return
        }
        #expect(fault?.code == .cancelled && receiver.marks.count == 0)
        #expect(throws: TransferError.self) { try receiver.current.begin(offer.transfer, from: .sample(1)) }
        _ = await receiver.current.judge(receiver.again(offer), from: .sample(1))
        #expect(receiver.consent.asked.count == 2)
    }

    @Test("that nobody has accepted is not there to be cancelled")
    func unknown() { #expect(!Asking().current.cancel(TransferID())) }
}

@Suite("A transfer that is offered again")
struct OfferedAgainTests {
    @Test("ends the connection on which it came before, and is taken when that has ended")
    func interrupts() async throws {
        let receiver = Asking()
        let offer = Offer.sample(items: 2)
        let interrupted = Recorder<Void>()
        _ = await receiver.current.judge(offer, from: .sample(1))
        let first = try receiver.current.begin(offer.transfer, from: .sample(1)) { interrupted.record(()) }
        let meanwhile = await receiver.current.judge(offer, from: .sample(1))
        #expect(meanwhile.items.map(\.answer) == [.busy, .busy])
        #expect(interrupted.count == 1)
        receiver.current.end(first, first.fail(gone), fault: gone)
        #expect(try await receiver.attempt(offer, items: 2) == [.accepted, .accepted])
        #expect(receiver.inbox.names == ["file-0", "file-1"])
    }

    @Test("an ending transfer is waited for, and one of another peer or another item is not")
    func rivals() async throws {
        let receiver = Asking()
        let offer = Offer.sample(items: 2)
        _ = await receiver.current.judge(offer, from: .sample(1))
        let first = try receiver.current.begin(offer.transfer, from: .sample(1))
        let again = receiver.again(offer)
        await receiver.current.transfers.awaitRivals(of: again, from: .sample(2))
        await receiver.current.transfers.awaitRivals(of: offer, from: .sample(1))
        var others = again
        others.items = Offer.sample(items: 3).items.suffix(1)
        await receiver.current.transfers.awaitRivals(of: others, from: .sample(1))
        async let waiting: Void = receiver.current.transfers.awaitRivals(of: again, from: .sample(1))
        receiver.current.end(first, first.fail(gone), fault: gone)
        await waiting
        #expect(receiver.current.transfers.rivals(of: again, from: .sample(1)).isEmpty)
    }

    @Test("with another number of items is not taken")
    func another() async throws {
        let receiver = Asking()
        let offer = Offer.sample(items: 3)
        try await receiver.attempt(offer, items: 1)
        var other = offer
        other.items.removeLast()
        #expect(try await receiver.attempt(other, items: 0) == [.declined, .declined])
    }

    @Test("has one receipt: an item that an earlier attempt stored is stored, whatever happens to later ones")
    func oneReceipt() async throws {
        let receiver = Asking()
        let offer = Offer.sample(items: 3)
        try await receiver.attempt(offer, items: 2)
        receiver.restart()
        let restarted = await receiver.current.receipt(of: offer.transfer, from: .sample(1), answered: false)
        #expect(restarted?.items.map(\.isStored) == [true, true, false])
        #expect(restarted?.items[2].outcome == .notSent)
        try await receiver.attempt(offer, items: 0)
        let later = await receiver.current.receipt(of: offer.transfer, from: .sample(1), answered: false)
        #expect(later?.items.map(\.isStored) == [true, true, false])
        #expect(await receiver.current.receipt(of: offer.transfer, from: .sample(2), answered: false) == nil)
    }

    @Test("needs room only for the missing part")
    func room() async throws {
        let inbox = MemoryInbox(freeRoom: 10)
        let (journal, offer) = (MemoryJournal(), Offer.sample(items: 2))
        func reception() -> Reception {
            Reception(
                inbox: inbox, journal: journal, gate: ScriptedGate(), consent: ScriptedConsent(.accept),
                delivery: RecordingDelivery(.none),
                observe: { _ in })
        }
        let first = reception()
        #expect(await first.judge(offer, from: .sample(1)).acceptsAnything)
        let transfer = try first.begin(offer.transfer, from: .sample(1))
        try transfer.beginItem(0)
        try transfer.beginFile(FileEntry(path: nil, executable: false, modified: nil, size: 5))
        try hello.withUnsafeBytes { bytes in try transfer.write(bytes) }
        try transfer.endFile(digest: .of(.xxh3_128, hello))
        try transfer.endItem(digest: .of(.xxh3_128, hello))
        first.end(transfer, transfer.fail(gone), fault: gone)
        var more = offer
        more.items.append(contentsOf: Offer.sample(items: 3).items.suffix(1))
        more.transfer = TransferID()
        // 15 bytes are offered, 10 are free, and 5 are there.
        #expect(await first.judge(more, from: .sample(1)).items.map(\.answer) == [.accepted, .accepted, .accepted])
        more.transfer = TransferID()
        #expect(await first.judge(more, from: .sample(2)).items.map(\.answer) == [.noRoom, .noRoom, .noRoom])
    }
}
