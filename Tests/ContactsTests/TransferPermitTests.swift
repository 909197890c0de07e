import Digests
import Sharing
import TestSupport
import Testing
import UniformTypes

@testable import Contacts

@Suite("A permit for a transfer")
struct TransferPermitTests {
    private let permits = TransferPermits()
    private let start = ContinuousClock.now
    private let offer = Offer.sample()
    private let peer = PeerID.sample(1)

    private func covers(_ transfer: TransferID? = nil, after time: Duration = .zero) -> Bool {
        permits.covers(transfer, from: peer, at: start + time)
    }

    private func ended(_ fault: TransferError?) -> Reception.Event {
        .ended(offer.transfer, from: peer, Receipt(transfer: offer.transfer, items: []), fault)
    }

    @Test("is for one key and one transfer, and ends after a minute without an offer")
    func given() {
        permits.give(offer.transfer, from: peer, at: start)
        #expect(covers() && covers(offer.transfer) && !covers(TransferID()))
        #expect(!permits.covers(offer.transfer, from: .sample(2), at: start))
        #expect(covers(after: .seconds(59)) && !covers(after: .seconds(60)))
        #expect(!permits.isAny(at: start + .seconds(60)))
    }

    @Test(
        "lasts while the transfer moves, is renewed for ten minutes when that broke off, and is used up when it is whole"
    )
    func renewed() {
        permits.give(offer.transfer, from: peer, at: start)
        let verdict = Verdict(all: .accepted, count: 1)
        permits.hear(.judged(offer, verdict, from: peer), at: start)
        #expect(covers(offer.transfer, after: .seconds(86_400)))
        permits.hear(ended(TransferError(.interrupted, "lost")), at: start)
        #expect(covers(offer.transfer, after: .seconds(599)))
        permits.hear(.judged(offer, verdict, from: peer), at: start + .seconds(500))
        permits.hear(ended(nil), at: start + .seconds(700))
        #expect(!covers(offer.transfer, after: .seconds(700)))
    }

    @Test("is used up by a transfer that a user has cancelled")
    func cancelled() {
        permits.give(offer.transfer, from: peer, at: start)
        permits.hear(.judged(offer, Verdict(all: .accepted, count: 1), from: peer), at: start)
        permits.hear(ended(TransferError(.cancelled, "cancelled by the user")), at: start)
        #expect(!permits.isAny(at: start))
    }

    @Test("is not renewed by other peers or transfers")
    func others() {
        permits.give(offer.transfer, from: peer, at: start)
        permits.hear(.judged(offer, Verdict(all: .accepted, count: 1), from: .sample(2)), at: start)
        permits.hear(.judged(.sample(), Verdict(all: .accepted, count: 1), from: peer), at: start)
        permits.hear(.judged(offer, Verdict(all: .no, count: 1), from: peer), at: start)
        #expect(!covers(after: .seconds(60)))
    }

    @Test("lets the transfer in at any visibility and without a question, but not against a block, a rule or none")
    func policy() throws {
        let rule = try PolicyRule(
            fields: ["from": .scalar("everyone"), "then": .scalar("decline")], registry: .system, dialects: .samples)
        func outcome(
            _ policy: Policy, _ relation: PeerRelation, _ visibility: Visibility, _ receiver: ReceiverRule = .ask
        ) -> PolicyAction {
            let setting = PolicySetting(at: .now, visibility: visibility, receiver: receiver).permitting(true)
            return policy.decide(offer, from: relation, setting)[0].outcome
        }
        for visibility in [Visibility.off, .contacts, .everyone] {
            #expect(outcome(.none, .stranger, visibility) == .accept)
            #expect(outcome(.none, .blocked(nil), visibility) == .decline)
            #expect(outcome(.none, .stranger, visibility, .none) == .decline)
            #expect(outcome(try Policy([rule]), .stranger, visibility) == .decline)
        }
    }
}
