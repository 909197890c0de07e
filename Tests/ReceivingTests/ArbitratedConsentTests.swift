import Handlers
import Logging
import Sharing
import TestSupport
import Testing

@testable import Receiving

@Suite("An arbiter beside people", .timeLimit(.minutes(1)))
struct ArbitratedConsentTests {
    /// The people, whose answer is taken at once and comes only when the question is withdrawn.
    private struct Slow: ConsentAsking {
        let queue: ConsentQueue

        func consent(
            to offer: Offer, from peer: PeerID, freeRoom: UInt64, waits: @escaping @Sendable () -> Void
        ) async -> [ItemVerdict] {
            let verdicts = await queue.consent(to: offer, from: peer, freeRoom: freeRoom, waits: waits)
            try? await Task.sleep(for: .seconds(86_400))
            return verdicts
        }
    }

    @Test("an answer of a person that was taken counts, though the arbiter's comes first", arguments: [true, false])
    func person(accept: Bool) async {
        let queue = ConsentQueue(rule: .ask)
        let consent = ArbitratedConsent(
            arbiter: { _ in
                for await event in queue.events() {
                    if case .waiting(let offer) = event { #expect(queue.answer(offer.number, accept: accept)) }
                    break
                }
                return accept ? .decline(reason: "no") : .accept
            },
            people: Slow(queue: queue), contactName: { _ in nil }, logger: Logger(label: "test"))
        let verdicts = await consent.consent(to: .sample(items: 2), from: .sample(1), freeRoom: 1) {}
        #expect(verdicts.map(\.answer) == Array(repeating: accept ? .accepted : .declined, count: 2))
    }

    @Test("an arbiter that decides before the people withdraws the question, and its answer counts")
    func arbiter() async {
        let queue = ConsentQueue(rule: .ask)
        let consent = ArbitratedConsent(
            arbiter: { _ in .decline(reason: "too large") }, people: queue, contactName: { _ in nil },
            logger: Logger(label: "test"))
        let verdicts = await consent.consent(to: .sample(items: 1), from: .sample(1), freeRoom: 1) {}
        #expect(verdicts == [ItemVerdict(.declined, reason: "too large", cause: .rule)])
        #expect(queue.offers.isEmpty)
    }
}
