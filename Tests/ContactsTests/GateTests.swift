import Contacts
import Foundation
import Sharing
import Synchronization
import TestSupport
import Testing

@Suite("The gate before consent")
struct GateTests {
    let place = Place()

    private func gate(
        _ rules: [PolicyRule] = [], visibility: Visibility = .everyone, receiver: ReceiverRule = .ask
    ) throws -> OfferGate {
        let policy = try Policy(rules)
        return OfferGate(
            book: place.book(), policy: { policy },
            setting: { PolicySetting(at: at(0), visibility: visibility, receiver: receiver) })
    }

    @Test("each item gets its own decision, and the user is asked about the undecided items")
    func items() throws {
        let gate = try gate([
            try rule(["name": .scalar("*.exe"), "then": .scalar("decline")]),
            try rule(["type": .scalar("public.image"), "then": .scalar("accept")]),
        ])
        try place.book().allow(.sample(1), named: try name("anna"), .sample)
        let mixed = offer([item(), item("a.exe", "public.data"), item("b.bin", "public.data")], takesPart: true)
        let answer = gate.judge(mixed, from: .sample(1))
        #expect(answer.verdicts.map { $0?.answer } == [.accepted, .declined, nil])
        #expect(answer.open == [2])
        #expect(answer.rest(of: mixed).items.map(\.name.text) == ["b.bin"])
        #expect(answer.completed(with: [.accepted]).map(\.answer) == [.accepted, .declined, .accepted])
        #expect(answer.completed().map(\.answer) == [.accepted, .declined, .declined])
        #expect(answer.verdicts[1]?.reason == "the other side said no")
        #expect(answer.decisions[1].explanation.hasPrefix("decline: rule 1 matches"))
        #expect(answer.question == nil)
    }

    @Test("a guest whom the user has invited is asked about at any visibility, and gets nothing where nothing is taken")
    func invited() throws {
        let invited = Dialect(
            name: "invited", title: "Invited", proof: .never, givesReceipts: false, resumes: false, isByInvitation: true
        )
        let guest = PeerID.unproven(invited)
        var offered = offer([item()])
        offered.dialect = invited
        for visibility in [Visibility.off, .contacts, .everyone] {
            let gate = try gate(visibility: visibility)
            #expect(gate.refusal(of: offered, from: guest) == nil)
            #expect(gate.judge(offered, from: guest).asks)
            #expect(gate.access(of: guest, by: invited) == .stranger)
        }
        let closed = try gate(visibility: .off, receiver: .none)
        #expect(closed.judge(offered, from: guest).verdicts.map { $0?.answer } == [.declined])
        offered.dialect = .keyless
        #expect(try gate(visibility: .off).judge(offered, from: .unproven(.keyless)).asks == false)
    }

    @Test("the amount of a day is computed if a limit or a rule names it, and the user is asked above the limit")
    func sizePerDay() throws {
        let asked = Mutex(0)
        let come = Mutex<UInt64?>(0)
        func judge(_ rules: [PolicyRule], by dialect: Dialect = .keyed) throws -> PolicyAction? {
            let policy = try Policy(rules)
            let gate = OfferGate(
                book: place.book(), policy: { policy },
                setting: { PolicySetting(at: at(7), visibility: .everyone) },
                dayAmount: { offer, _, time in
                    #expect(time == at(7))
                    asked.withLock { $0 += 1 }
                    return come.withLock { $0.map { $0 + offer.knownSize } }
                })
            var offer = offer([item()])
            offer.dialect = dialect
            return gate.judge(offer, from: .sample(1)).decisions.first?.outcome
        }
        try place.book().allow(.sample(1), named: try name("anna"), .sample)
        try place.book().set("anna") { $0.policy = .accept }
        #expect(try judge([]) == .accept)
        #expect(asked.withLock { $0 } == 0)
        let rule = try rule(["from": .scalar("airdrop"), "sizePerDay": .scalar("2 kB"), "then": .scalar("accept")])
        try place.book().set("anna") { $0.limits.sizePerDay = 2_000 }
        for (amount, outcome) in [(0, .accept), (1_000, .accept), (1_001, .ask), (nil, .ask)]
            as [(UInt64?, PolicyAction)]
        {
            come.withLock { $0 = amount }
            #expect(try judge([]) == outcome)
            #expect(try judge([rule], by: .keyless) == outcome)
        }
        #expect(asked.withLock { $0 } == 8)
    }

    @Test("where an accepted item goes is what whoever was asked says, then the rule, then the contact")
    func destinations() throws {
        let gate = try gate([
            try rule(["type": .scalar("public.image"), "then": .scalar("accept"), "folder": .scalar("Photos")]),
            try rule(["name": .scalar("*.bin"), "then": .scalar("ask"), "handler": .scalar("Archive")]),
        ])
        try place.book().allow(.sample(1), named: try name("anna"), .sample)
        let own = try Destination(handler: "Anna's", folder: try SafeRelativePath("Anna"))
        try place.book().set("anna") { $0.destination = own }
        let mixed = offer([item(), item("a.bin", "public.data"), item("b", "public.data")])
        let answer = gate.judge(mixed, from: .sample(1))
        let into = try Destination(folder: try SafeRelativePath("Now"))
        let verdicts = answer.completed(with: [ItemVerdict(.accepted, destination: into), ItemVerdict(.declined)])
        #expect(verdicts.map { $0.destination.folder?.text } == ["Photos", "Now", nil])
        #expect(verdicts.map(\.destination.handler) == ["Anna's", "Archive", nil])
        let stranger = gate.judge(offer([item()]), from: .sample(9)).completed(with: [.accepted])
        #expect(stranger.map { $0.destination.folder?.text } == ["Photos"])
    }

    @Test("of an offer that is to be sent whole nothing is taken, nor asked about, where one item is refused")
    func whole() throws {
        let gate = try gate([try rule(["name": .scalar("*.exe"), "then": .scalar("decline")])])
        let answer = gate.judge(offer([item(), item("a.exe")]), from: .sample(9))
        #expect(!answer.asks)
        #expect(answer.completed().map(\.answer) == [.declined, .declined])
        #expect(answer.completed()[0].reason.contains("--partial"))
        #expect(gate.waitingQuestions == 0)
        let open = gate.judge(offer([item(), item()]), from: .sample(9))
        #expect(open.completed(with: [.accepted, .accepted]).map(\.answer) == [.accepted, .accepted])
        #expect(
            open.completed(with: [.accepted, ItemVerdict(.declined, reason: "no")]).map(\.answer) == [
                .accepted, .declined,
            ], "whoever is asked may take a part")
    }

    @Test("a blocked peer gets the same answer as a stranger")
    func blockedHears() throws {
        try place.book().block(.sample(2), callingItself: "", at: at(0))
        try place.book().allow(.sample(1), named: try name("anna"), .sample)
        try place.book().block(.sample(1), callingItself: "", at: at(0))
        for (visibility, receiver) in [(Visibility.contacts, ReceiverRule.ask), (.off, .ask), (.everyone, .none)] {
            let gate = try gate(visibility: visibility, receiver: receiver)
            let stranger = gate.judge(offer([item()]), from: .sample(9)).completed()
            #expect(stranger[0].answer == .declined)
            #expect(gate.judge(offer([item()]), from: .sample(2)).completed() == stranger)
            #expect(gate.judge(offer([item()]), from: .sample(1)).completed() == stranger)
        }
        let open = try gate()
        #expect(
            open.judge(offer([item()]), from: .sample(2)).completed() == [.privateRule])
    }

    @Test("without a proved key no peer is a contact or blocked, whatever its id is")
    func unproven() throws {
        try place.book().allow(.sample(1), named: try name("anna"), .sample)
        var offer = offer([item()])
        let rules = [try rule(["from": .scalar("anna"), "then": .scalar("accept")])]
        #expect(try gate(rules).judge(offer, from: .sample(1)).verdicts.map { $0?.answer } == [.accepted])
        offer.dialect = .keyless
        #expect(try gate(rules).judge(offer, from: .sample(1)).asks)
        #expect(try gate(rules, visibility: .contacts).judge(offer, from: .sample(1)).verdicts[0]?.answer == .declined)
    }

    @Test("for a stranger with a contact's name, the user is asked about a stranger")
    func impostor() throws {
        try place.book().allow(.sample(1), named: try name("anna"), .sample)
        try place.book().set("anna") { $0.policy = .accept }
        let gate = try gate([try rule(["from": .scalar("anna"), "then": .scalar("accept")])])
        let answer = gate.judge(offer([item()], callingItself: "Аnna\u{200B}"), from: .sample(9))
        #expect(answer.asks)
        #expect(answer.introduction.line == "stranger \"Аnna\" (\(PeerID.sample(9).short), not your contact anna)")
        #expect(answer.introduction.warning?.hasPrefix("this is not your contact anna: ") == true)
        #expect(!gate.judge(offer([item()], callingItself: "root"), from: .sample(1)).asks)
    }

    @Test("a peer that may not offer at all is refused before an offer, with the answer that an offer would get")
    func access() throws {
        try place.book().allow(.sample(1), named: try name("anna"), .sample)
        try place.book().allow(.sample(3), named: try name("bert"), .sample)
        try place.book().set("bert") { $0.policy = .decline }
        try place.book().block(.sample(2), callingItself: "", at: at(0))
        for visibility in Visibility.allCases {
            for receiver in [ReceiverRule.ask, .everyone, .contacts, .none] {
                let gate = try gate(visibility: visibility, receiver: receiver)
                for peer in [PeerID.sample(1), .sample(2), .sample(3), .sample(9)] {
                    let answer = gate.judge(offer([item()]), from: peer)
                    let refusal = gate.refusal(of: offer([item()]), from: peer)
                    let isBarred = !answer.asks && answer.completed()[0].answer != .accepted
                    switch gate.access(of: peer, by: .keyed) {
                    case .barred(let verdict):
                        #expect(isBarred && [verdict] == answer.completed() && refusal == [verdict])
                    case .stranger: #expect(!isBarred && peer == .sample(9) && refusal == nil)
                    case .contact: #expect(!isBarred && peer == .sample(1) && refusal == nil)
                    }
                }
            }
        }
        #expect(try gate().access(of: .sample(1), by: .keyless) == .stranger)
    }

    @Test("an offer of which a rule declines everything is refused before anybody is asked, and one with more is not")
    func refusal() throws {
        let gate = try gate([try rule(["name": .scalar("*.exe"), "then": .scalar("decline")])])
        #expect(
            gate.refusal(of: offer([item("a.exe"), item("b.exe")]), from: .sample(9))?.map(\.answer) == [
                .declined, .declined,
            ])
        #expect(gate.refusal(of: offer([item("a.exe"), item()], takesPart: true), from: .sample(9)) == nil)
        #expect(
            gate.refusal(of: offer([item("a.exe"), item()]), from: .sample(9))?.map(\.answer) == [.declined, .declined])
        #expect(gate.refusal(of: offer([item()]), from: .sample(9)) == nil)
        #expect(gate.waitingQuestions == 0)
        let waiting = (0..<ContactBounds.waitingPerStranger).map { _ in gate.judge(offer([item()]), from: .sample(9)) }
        #expect(gate.refusal(of: offer([item()]), from: .sample(9))?.map(\.answer) == [.busy])
        #expect(waiting.count == gate.waitingQuestions)
    }

    @Test("of 500 offers of one stranger four wait, and the rest are answered busy without a question")
    func flood() throws {
        let gate = try gate()
        var waiting: [GateAnswer] = []
        var busy = 0
        let now = ContinuousClock.now
        for _ in 0..<500 {
            let answer = gate.judge(offer([item(), item()]), from: .sample(9), now: now)
            if answer.asks {
                waiting.append(answer)
            } else {
                #expect(answer.completed().map(\.answer) == [.busy, .busy])
                busy += 1
            }
        }
        #expect((waiting.count, busy) == (4, 496))
        #expect(gate.waitingQuestions == 4)
        waiting.removeAll()
        #expect(gate.waitingQuestions == 0)
    }

    @Test("a stranger that asked too often in a minute hears how long to wait, and of waiting offers only if they wait")
    func words() throws {
        let gate = try gate()
        let now = ContinuousClock.now
        for _ in 0..<ContactBounds.questionsPerStranger {
            #expect(gate.judge(offer([item()]), from: .sample(9), now: now).asks)
        }
        let later = gate.judge(offer([item()]), from: .sample(9), now: now + .milliseconds(20_500))
        #expect(later.completed().map(\.reason) == ["too many questions in a minute; try again in 40 s"])
        let refusal = gate.refusal(of: offer([item()]), from: .sample(9))
        #expect(refusal?.first?.reason.hasPrefix("too many questions in a minute; try again in ") == true)
        #expect(gate.judge(offer([item()]), from: .sample(9), now: now + .seconds(60)).asks)
        let waiting = (0..<ContactBounds.waitingPerStranger).map { _ in
            gate.judge(offer([item()]), from: .sample(8), now: now)
        }
        let fifth = gate.judge(offer([item()]), from: .sample(8), now: now)
        #expect(waiting.allSatisfy(\.asks) && fifth.completed() == [.tooManyOffersWait])
    }

    @Test("a stranger with a new key for each offer does not get further than all strangers may")
    func manyKeys() throws {
        let gate = try gate()
        let now = ContinuousClock.now
        var asked = 0
        for number in 0..<500 {
            if gate.judge(offer([item()]), from: .numbered(number), now: now).asks { asked += 1 }
        }
        #expect(asked == ContactBounds.questionsOfStrangers)
        #expect(gate.waitingQuestions == 0)
        let later = gate.judge(offer([item()]), from: .numbered(1_000), now: now + .seconds(60))
        #expect(later.asks)
    }

    @Test("the user is asked about a contact's offer while strangers fill all their places")
    func contactsPass() throws {
        try place.book().allow(.sample(1), named: try name("anna"), .sample)
        let gate = try gate()
        let strangers = (0..<100).map { gate.judge(offer([item()]), from: .numbered($0)) }
        #expect(gate.waitingQuestions == ContactBounds.waitingOfStrangers)
        #expect(gate.judge(offer([item()]), from: .sample(1)).asks)
        #expect(strangers.count(where: \.asks) == ContactBounds.waitingOfStrangers)
    }

    @Test("a stranger that is answered quickly still causes only so many questions in a minute")
    func perMinute() {
        var caps = QuestionCaps()
        let start = ContinuousClock.now
        var asked = 0
        for second in 0..<180 {
            let now = start + .seconds(second)
            guard caps.begin(.sample(9), at: now) == nil else { continue }
            asked += 1
            caps.end(.sample(9))
        }
        #expect(asked == 3 * ContactBounds.questionsPerStranger)
        caps.end(.sample(9))
        caps.end(.sample(3))
        #expect(caps.waitingCount == 0)
    }

    @Test("where the contacts cannot be read everything is busy, also with --accept everyone")
    func unreadable() throws {
        try place.write("{", to: place.bookPath)
        let gate = try gate(receiver: .everyone)
        let answer = gate.judge(offer([item()]), from: .sample(1))
        #expect(answer.completed().map(\.answer) == [.busy])
        #expect(answer.refusal?.hasPrefix("\(place.bookPath) cannot be used") == true)
        #expect(answer.verdicts[0]?.reason.contains("/") == false)
        #expect([gate.access(of: .sample(1), by: .keyed)] == answer.completed().map { .barred($0) })
        #expect(gate.refusal(of: offer([item()]), from: .sample(1)) == answer.completed())
    }

    @Test("the user is asked only about undecided items, and sees only these")
    func gated() async throws {
        try place.book().allow(.sample(1), named: try name("anna"), .sample)
        let gate = try gate([try rule(["type": .scalar("public.image"), "then": .scalar("accept")])])
        let people = People()
        let seen = Mutex(0)
        let consent = GatedConsent(gate, asking: people) { _, _, _ in seen.withLock { $0 += 1 } }
        let decided = await consent.consent(to: offer([item()]), from: .sample(1), freeRoom: 0)
        #expect(decided.map(\.answer) == [.accepted])
        #expect(people.asked.withLock { $0 } == [])
        let mixed = await consent.consent(
            to: offer([item(), item("a.bin", "public.data")]), from: .sample(1), freeRoom: 0)
        #expect(mixed.map(\.answer) == [.accepted, .accepted])
        #expect(people.asked.withLock { $0 } == [["a.bin"]])
        #expect(seen.withLock { $0 } == 2)
        _ = await consent.consent(to: offer([item()]), from: .sample(9), freeRoom: 0)
        #expect(gate.waitingQuestions == 0)
    }

    @Test("an offer of as many items and types as there can be is judged, each item by itself")
    func large() throws {
        let gate = try gate(
            [
                try rule(["type": .scalar("public.movie"), "then": .scalar("decline")]),
                try rule(["name": .list(["*7.jpg", "ä*"]), "then": .scalar("accept")]),
            ], receiver: .everyone)
        let items = (0..<Limits.items).map { number in
            item("\(number % 3 == 0 ? "Ä" : "")\(number).JPG", number % 5 == 0 ? "public.mpeg-4" : "dyn.t\(number)")
        }
        let answer = gate.judge(offer(items, takesPart: true), from: .sample(9))
        for (number, decision) in answer.decisions.enumerated() {
            let basis: PolicyDecision.Basis =
                number % 5 == 0 ? .rule(1) : number % 3 == 0 || number % 10 == 7 ? .rule(2) : .receiver
            guard decision.basis != basis else { continue }
            Issue.record("item \(number): \(decision.explanation)")
            break
        }
    }
}

/// Accepts everything.
private final class People: ConsentAsking {
    let asked = Mutex<[[String]]>([])

    func consent(
        to offer: Offer, from peer: PeerID, freeRoom: UInt64, waits: @escaping @Sendable () -> Void
    ) async -> [ItemVerdict] {
        asked.withLock { $0.append(offer.items.map(\.name.text)) }
        return Array(repeating: .accepted, count: offer.items.count)
    }
}
