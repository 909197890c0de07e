import Sharing
import TestSupport
import Testing

@testable import Commands

@Suite("Choosing a peer from the list")
struct PeerChoiceTests {
    private let kitchen = PeerID.sample(1)
    private let study = PeerID.sample(2)
    private let other = PeerID.sample(3)

    private func choice(_ names: [(PeerID, String?)]) -> PeerChoice {
        var choice = PeerChoice()
        for (index, (id, name)) in names.enumerated() { #expect(choice.found(id, name: name) == index + 1) }
        return choice
    }

    @Test("a peer keeps its number, and is shown again when it tells another name")
    func renamed() {
        var choice = choice([(kitchen, nil), (study, "Study")])
        #expect(choice.found(kitchen, name: nil) == nil)
        #expect(choice.found(kitchen, name: "Kitchen") == 1)
        #expect(choice.found(kitchen, name: "Kitchen") == nil)
        #expect(choice.found(kitchen, name: nil) == nil)
        #expect(choice.found(kitchen, name: "Larder") == 1)
        #expect(choice.answer(to: "larder") == .chosen(kitchen.text))
    }

    @Test("a number, a name in any case, the beginning of an id and an address choose")
    func chosen() {
        let choice = choice([(kitchen, "Kitchen"), (study, nil)])
        #expect(choice.answer(to: "2") == .chosen(study.text))
        #expect(choice.answer(to: "kitchen") == .chosen(kitchen.text))
        #expect(choice.answer(to: String(study.text.prefix(6))) == .chosen(study.text))
        #expect(choice.answer(to: "192.168.1.7") == .chosen("192.168.1.7"))
        #expect(choice.answer(to: "nas.lan:4001") == .chosen("nas.lan:4001"))
    }

    @Test("an answer that fits no peer, or several, is requested again with the reason")
    func unclear() {
        let choice = choice([(kitchen, "kitchen"), (study, "kitchen")])
        #expect(choice.answer(to: "kitchen") == .unclear("2 machines are named \"kitchen\": type the number"))
        #expect(
            choice.answer(to: "3")
                == .unclear("\"3\" is not in the list: type a number or a name of it, an address, or q"))
        #expect(choice.answer(to: "") == .unclear(""))
    }

    @Test("no stranger can take the place of q or of an address by its name")
    func hostileNames() {
        let choice = choice([(kitchen, "q"), (study, "192.168.1.7"), (other, "nas.lan:4001")])
        #expect(choice.answer(to: "q") == .givenUp)
        #expect(choice.answer(to: "192.168.1.7") == .chosen("192.168.1.7"))
        #expect(choice.answer(to: "nas.lan:4001") == .chosen("nas.lan:4001"))
    }
}
