import Sharing
import TestSupport
import Testing

@Suite("Eligibility of offered items")
struct EligibilityTests {
    /// Refuses the items with these numbers in their names.
    private func receiver(refusing refused: Set<Int>, _ answer: ScriptedConsent.Answer = .accept) -> Receiver {
        Receiver(answer, refusal: { item in refused.contains { item.name.text == "file-\($0)" } ? "not here" : nil })
    }

    @Test("an item that no handler opens is refused with the reason, without a question")
    func refused() async {
        let receiver = receiver(refusing: [0])
        let verdict = await receiver.reception.judge(.sample(), from: Receiver.peer)
        #expect(verdict.items == [ItemVerdict(.ineligible, reason: "not here")])
        #expect(receiver.consent.asked.count == 0)
    }

    @Test("one such item stops the others, and their verdict is that they could go alone")
    func whole() async {
        let receiver = receiver(refusing: [1])
        let verdict = await receiver.reception.judge(.sample(items: 3), from: Receiver.peer)
        #expect(verdict.items.map(\.answer) == [.ineligible, .ineligible, .ineligible])
        #expect(verdict.items[1].reason == "not here")
        #expect(verdict.items[0].reason.contains("--partial"))
        #expect(receiver.consent.asked.count == 0)
    }

    @Test("with part taken the question is about the others only, and each item has its own answer")
    func part() async {
        let receiver = receiver(refusing: [0, 2], .items([.accepted, ItemVerdict(.declined, reason: "no")]))
        var offer = Offer.sample(items: 4)
        offer.takesPart = true
        let verdict = await receiver.reception.judge(offer, from: Receiver.peer)
        #expect(verdict.items.map(\.answer) == [.ineligible, .accepted, .ineligible, .declined])
        #expect(receiver.consent.asked.all.map { $0.offer.items.map(\.name.text) } == [["file-1", "file-3"]])
    }

    @Test("if parts are taken and nothing is eligible, there is no question")
    func nothing() async {
        let receiver = receiver(refusing: [0, 1])
        var offer = Offer.sample(items: 2)
        offer.takesPart = true
        let verdict = await receiver.reception.judge(offer, from: Receiver.peer)
        #expect(verdict.items.allSatisfy { $0 == ItemVerdict(.ineligible, reason: "not here") })
        #expect(receiver.consent.asked.count == 0)
    }

    @Test("an item that the disk cannot hold is refused with the reason, before anybody is asked")
    func disk() async {
        let receiver = Receiver(
            inbox: MemoryInbox(refused: { item, _ in item.needs?.links == true ? "it has no links" : nil }))
        var offer = Offer.sample()
        offer.items[0].needs = DiskNeeds()
        #expect(await receiver.judge(offer) == [.accepted])
        offer = .sample()
        offer.items[0].needs = DiskNeeds()
        offer.items[0].needs?.links = true
        let verdict = await receiver.reception.judge(offer, from: Receiver.peer)
        #expect(verdict.items == [ItemVerdict(.ineligible, reason: "it has no links")])
        #expect(receiver.consent.asked.count == 1)
    }

    @Test(
        "an item that the disk cannot hold sealed is refused if its answer wants it sealed", arguments: [false, true])
    func sealed(takesPart: Bool) async {
        let sealed = ItemVerdict(.accepted, destination: Destination.usual.protected(as: .complete))
        let receiver = Receiver(
            .items([sealed, .accepted]), inbox: MemoryInbox(refused: { _, isSealed in isSealed ? "too long" : nil }))
        var offer = Offer.sample(items: 2)
        offer.takesPart = takesPart
        let verdict = await receiver.reception.judge(offer, from: Receiver.peer)
        #expect(verdict.items[0] == ItemVerdict(.ineligible, reason: "too long"))
        #expect(verdict.items[1].answer == (takesPart ? .accepted : .declined))
    }

    @Test(
        "a folder needs a disk for its links, its rare characters, its names that differ only in case, and long names")
    func needs() {
        var (needs, names) = (DiskNeeds(), AlikeNames())
        for name in ["plain", "Küche", "日本"] { needs.add(name) }
        #expect(needs.isEmpty)
        var all = DiskNeeds()
        for character in DiskNeeds.rareCharacters { all.add("a\(character)") }
        #expect(all.characters == DiskNeeds.rareCharacters)
        for name in ["a?b", "x:y", "a?"] { needs.add(name) }
        needs.add(String(repeating: "n", count: 252))
        needs.add(String(repeating: "n", count: 255), isFile: false)
        #expect(needs.characters == ":?" && needs.longestName == 252)
        var found: [Bool] = []
        for name in ["Read.me", "other"] { found.append(names.add(name)) }
        names.enter()
        for name in ["read.me", "READ.ME"] { found.append(names.add(name)) }
        names.leave()
        found.append(names.add("read.ME"))
        #expect(found == [false, false, false, true, true])
    }

    @Test("a name with a number belongs to that name, and no other does")
    func numberedNames() {
        for (name, plain) in [("a-1.txt", "a.txt"), ("a.txt", "a.txt"), ("a-17", "a"), ("x-1-2.tar.gz", "x-1.tar.gz")] {
            #expect(safe(name).isNumbered(safe(plain)), "\(name)")
        }
        for (name, plain) in [("a-0.txt", "a.txt"), ("b.txt", "a.txt"), ("a-x.txt", "a.txt"), ("a1.txt", "a.txt")] {
            #expect(!safe(name).isNumbered(safe(plain)), "\(name)")
        }
    }
}
