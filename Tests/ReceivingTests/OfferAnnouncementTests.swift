import Logging
import Settings
import Sharing
import Synchronization
import TestSupport
import Testing

@testable import Receiving

@Suite("An offer in the events of a receiver", .timeLimit(.minutes(1)))
struct OfferAnnouncementTests {
    private let sender = PeerID.sample(1)

    /// A receiver and its events; for each offer, whether it could be answered then.
    private final class Desk: Sendable {
        let folder = TemporaryFolder()
        let told = Recorder<String>()
        private let made = Mutex<Receiver?>(nil)

        init(_ rule: AcceptRule) throws {
            var settings = Settings(hostName: "kitchen")
            settings.accept = rule
            let receiver = try Receiver(
                home: Home(environment: ["WAFT_HOME": folder / "home"]),
                settings: settings,
                logger: Logger(label: "test")
            ) { [told, unowned self] event in
                switch event {
                case .reception(.offered(let offer, _)):
                    let waits = self.receiver.consent.offers.contains { $0.offer.transfer == offer.transfer }
                    told.record(waits ? "offered, and can be answered" : "offered")
                case .reception(.judged(_, let verdict, _)):
                    told.record(verdict.acceptsAnything ? "accepted" : "declined")
                default: break
                }
            }
            made.withLock { $0 = receiver }
        }

        var receiver: Receiver {
            made.withLock { receiver in
                guard let receiver else { preconditionFailure("events come later") }
                return receiver
            }
        }

        /// As a reception does it.
        func judge(_ offer: Offer, from peer: PeerID) async {
            receiver.plan.observe(.reception(.offered(offer, from: peer)))
            let answers = await receiver.consent.consent(to: offer, from: peer, freeRoom: 1)
            receiver.plan.observe(.reception(.judged(offer, Verdict(items: answers), from: peer)))
        }
    }

    @Test("has its event when it can be answered, not before", arguments: [AcceptRule.ask, .contacts])
    func answerable(rule: AcceptRule) async throws {
        let desk = try Desk(rule)
        let offer = Offer.sample()
        desk.receiver.plan.observe(.reception(.offered(offer, from: sender)))
        #expect(desk.told.all.isEmpty)
        async let answers = desk.receiver.consent.consent(to: offer, from: sender, freeRoom: 1)
        try await desk.told.first { $0 == "offered, and can be answered" }
        #expect(desk.receiver.consent.answer(1, accept: true))
        desk.receiver.plan.observe(.reception(.judged(offer, Verdict(items: await answers), from: sender)))
        #expect(desk.told.all == ["offered, and can be answered", "accepted"])
    }

    @Test("without a question has its event before its verdict", arguments: AcceptRule.allCases)
    func notAskedAbout(rule: AcceptRule) throws {
        let desk = try Desk(rule)
        let offer = Offer.sample()
        desk.receiver.plan.observe(.reception(.offered(offer, from: sender)))
        let verdict = Verdict(all: .accepted, count: 1)
        desk.receiver.plan.observe(.reception(.judged(offer, verdict, from: sender)))
        #expect(desk.told.all == ["offered", "accepted"])
    }

    @Test("has one event, before its verdict, if everything is accepted or nothing")
    func rules() async throws {
        for (rule, verdict) in [(AcceptRule.everyone, "accepted"), (.none, "declined")] {
            let desk = try Desk(rule)
            await desk.judge(Offer.sample(), from: sender)
            #expect(desk.told.all == ["offered", verdict])
        }
    }
}
