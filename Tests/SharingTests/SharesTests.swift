import TestSupport
import Testing

@testable import Sharing

@Suite("The budget of memory for messages")
struct MemoryBudgetTests {
    @Test("strangers have a part of it, and a contact's largest offer finds room beside any number of them")
    func parts() {
        let budget = MemoryBudget()
        let strangers = (0..<512).map { _ in budget.claim(isContact: false) }
        var refused = 0
        // Each message takes one mebibyte at a time, as its bytes arrive.
        for _ in 0..<(Limits.offerBytes >> 20) {
            for claim in strangers where !claim.take(1 << 20) { refused += 1 }
        }
        #expect(budget.bytesTaken == Limits.bodyBytesOfStrangers)
        #expect(refused > 0)
        let contact = budget.claim(isContact: true)
        for _ in 0..<(Limits.offerBytes >> 20) {
            let isTaken = contact.take(1 << 20)
            #expect(isTaken)
        }
    }

    @Test("contacts have a limit as well, and a returned share can be taken again")
    func end() {
        let budget = MemoryBudget(bytes: 10, ofStrangers: 4)
        do {
            let (stranger, contact) = (budget.claim(isContact: false), budget.claim(isContact: true))
            #expect(
                [stranger.take(4), stranger.take(1), contact.take(6), contact.take(1)] == [true, false, true, false])
            stranger.giveBack()
            #expect([contact.take(4), stranger.take(1)] == [true, false])
            #expect(budget.bytesTaken == 10)
        }
        #expect(budget.bytesTaken == 0)
    }
}

@Suite("The shares of offers")
struct OfferSharesTests {
    private func claim(
        _ peer: UInt8, _ isContact: Bool = false, from address: UInt32? = nil, items: Int = 1
    ) -> OfferClaim {
        OfferClaim(
            peer: .sample(peer), address: address.map { AddressKey(v4: $0) }, isContact: isContact, items: items,
            bytes: 0, footprint: 0)
    }

    private func reason(
        _ claim: OfferClaim, waiting: [OfferClaim] = [], open: [OfferClaim] = []
    ) -> String? {
        OfferShares.refusal(of: claim, waiting: waiting, open: open)?.reason
    }

    @Test("strangers together get half of the places in which offers wait, and those of one address half of that")
    func waiting() {
        let tooMany = "too many offers wait for an answer"
        let strangers = (0..<UInt8(Limits.waitingOffersOfStrangers)).map { claim($0, from: UInt32($0)) }
        #expect(reason(claim(200), waiting: strangers) == tooMany)
        #expect(reason(claim(200, true), waiting: strangers) == nil)
        let neighbours = (0..<UInt8(Limits.waitingOffersPerStranger)).map { claim($0, from: 7) }
        #expect(reason(claim(200, from: 7), waiting: neighbours) == tooMany)
        #expect(reason(claim(200, from: 8), waiting: neighbours) == nil)
        #expect(reason(claim(200, true, from: 7), waiting: neighbours) == nil)
        let own = (0..<Limits.waitingOffersPerPeer).map { claim(1, true, from: UInt32($0)) }
        #expect(reason(claim(1, true), waiting: own) == tooMany)
    }

    @Test("one stranger's four offers of as many items as there can be leave room for others, contacts first")
    func items() {
        let tooMany = "too many items are under way"
        let first = claim(1, from: 1, items: Limits.items)
        #expect(reason(first) == nil)
        #expect(reason(claim(1, from: 2), open: [first]) == tooMany, "the same key")
        #expect(reason(claim(2, from: 1), waiting: [first]) == tooMany, "the same address")
        let second = claim(2, from: 2, items: Limits.items)
        #expect(reason(second, open: [first]) == nil)
        #expect(reason(claim(3, from: 3), waiting: [first], open: [second]) == tooMany)
        #expect(reason(claim(3, true, from: 1, items: Limits.items), waiting: [first], open: [second]) == nil)
        let contacts = (10..<12).map { claim($0, true, items: Limits.items) }
        #expect(reason(claim(3, true), open: contacts + [first, second]) == tooMany)
    }

    @Test("open transfers are shared as well")
    func transfers() {
        let strangers = (0..<Limits.openTransfersOfStrangers).map { claim(UInt8($0 % 128), from: UInt32($0)) }
        #expect(reason(claim(200), open: strangers) == "too many transfers are under way")
        #expect(reason(claim(200, true), open: strangers) == nil)
        let own = (0..<Limits.openTransfersPerPeer).map { _ in claim(1, true) }
        #expect(reason(claim(1, true), open: own) == "too many transfers of yours are under way")
    }
}

@Suite("The share of one contact")
struct ContactShareTests {
    @Test("a contact leaves half of the items to the others, however many transfers it opens")
    func items() {
        func claim(_ peer: UInt8) -> OfferClaim {
            OfferClaim(
                peer: .sample(peer), address: nil, isContact: true, items: Limits.items, bytes: 0, footprint: 0)
        }
        let own = Array(repeating: claim(1), count: Limits.openItemsPerPeer / Limits.items)
        #expect(OfferShares.refusal(of: claim(1), waiting: [], open: Array(own.dropLast())) == nil)
        #expect(
            OfferShares.refusal(of: claim(1), waiting: [], open: own)?.reason
                == "too many items of yours are under way")
        #expect(OfferShares.refusal(of: claim(2), waiting: [], open: own) == nil)
    }
}

@Suite("The gate before the pools", .timeLimit(.minutes(1)))
struct GateBeforePoolsTests {
    private static let contact = PeerID.sample(1)

    private func reception(
        _ consent: ScriptedConsent, departedWait: Duration = .zero
    ) -> Reception {
        Reception(
            inbox: MemoryInbox(), journal: MemoryJournal(),
            gate: ScriptedGate {
                $0 == Self.contact ? .contact : .stranger
            } refusal: { offer in
                offer.senderName == "refused" ? [ItemVerdict(.declined, reason: "no")] : nil
            }, consent: consent, delivery: RecordingDelivery(), consentWait: .seconds(3_600),
            departedWait: departedWait, observe: { _ in })
    }

    @Test("an offer that is refused for any peer takes no place: it is declined also if there is none")
    func refusedFirst() async throws {
        let consent = ScriptedConsent(.never)
        let reception = reception(consent)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<UInt8(Limits.waitingOffersOfStrangers) {
                group.addTask { _ = await reception.judge(.sample(items: 2), from: .sample(100 + number)) }
            }
            try await consent.asked.element(Limits.waitingOffersOfStrangers)
            #expect(await reception.judge(.sample(items: 2), from: .sample(2)).items.first?.answer == .busy)
            var refused = Offer.sample()
            refused.senderName = "refused"
            #expect(await reception.judge(refused, from: .sample(2)).items.map(\.answer) == [.declined])
            // A contact's offer still reaches the consent question.
            group.addTask { _ = await reception.judge(.sample(items: 2), from: Self.contact) }
            try await consent.asked.element(Limits.waitingOffersOfStrangers + 1)
            group.cancelAll()
        }
    }

    @Test("the origin of an offer is the visitor's, whatever its annotation says")
    func origin() async throws {
        let consent = ScriptedConsent(.accept)
        let reception = reception(consent)
        var offer = Offer.sample()
        offer.annotation = ["certificate": "AB"]
        _ = await reception.judge(offer, from: Visitor(.sample(2), origin: OfferOrigin(host: "192.0.2.1")))
        #expect(consent.asked.all.map(\.offer.origin) == [OfferOrigin(host: "192.0.2.1")])
    }

    @Test("an accepted offer whose connection has closed is released, and can be offered again")
    func released() async throws {
        let reception = reception(ScriptedConsent(.accept))
        let stranger = Visitor(.sample(2))
        let offer = Offer.sample(items: Limits.items)
        #expect(await reception.judge(offer, from: stranger).acceptsAnything)
        #expect(await reception.judge(.sample(), from: .sample(2)).items.map(\.answer) == [.busy])
        reception.left(stranger)
        #expect(await reception.judge(.sample(), from: .sample(2)).acceptsAnything)
        expectNotAccepted { try reception.begin(offer.transfer, from: .sample(2)) }
        let (first, other) = (Visitor(.sample(3)), Offer.sample())
        #expect(await reception.judge(other, from: first).acceptsAnything)
        #expect(await reception.judge(other, from: Visitor(.sample(3))).acceptsAnything)
        // The offer was repeated on another connection meanwhile.
        reception.left(first)
        #expect(throws: Never.self) { try reception.begin(other.transfer, from: .sample(3)) }
    }

    @Test("contents may begin on another connection a moment after theirs has closed")
    func anotherConnection() async throws {
        let reception = reception(ScriptedConsent(.accept), departedWait: .seconds(3_600))
        let visitor = Visitor(.sample(2))
        let offer = Offer.sample()
        #expect(await reception.judge(offer, from: visitor).acceptsAnything)
        reception.left(visitor)
        #expect(throws: Never.self) { try reception.begin(offer.transfer, from: .sample(2)) }
    }
}
