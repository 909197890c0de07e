import Testing

@testable import Desk

@Suite("A code while it is typed")
struct ReadCodeTests {
    @Test(
        "is shown with whole words, and is a code as soon as it can be no other one",
        arguments: [
            ("", "", nil), ("7", "7", nil), ("7 Pumpk", "7-pumpkin", nil),
            ("07 PUMPK - saus", "07-pumpkin-sausage", "7"),
            ("7-pumpkin-sausage-acorn", "7-pumpkin-sausage-acorn", "7"), ("7 pumpkin s", "7-pumpkin-s", nil),
        ] as [(String, String, String?)])
    func whole(_ typed: String, _ text: String, _ number: String?) {
        let read = ReadCode(typed)
        #expect(read.text == text && read.wrong == nil)
        #expect(read.code?.prefix { $0 != "-" } == number.map { $0[...] })
    }

    @Test("names the first part that is in no code, with the word that it was meant to be")
    func wrong() {
        let near = ReadCode("7 pumpkn saus")
        #expect(near.wrong == "pumpkn" && near.text == "7-pumpkn-saus" && near.code == nil)
        #expect(near.choices.map(\.word) == ["pumpkin"] && near.choices.map(\.text) == ["7-pumpkin-saus"])
        for (typed, part) in [("x", "x"), ("100", "100"), ("7 xxxxxxxx", "xxxxxxxx"), ("7 acorn acorn acorn a", "a")] {
            let read = ReadCode(typed)
            #expect(read.wrong == part && read.choices.isEmpty && read.code == nil, "\(typed)")
        }
        #expect(ReadCode(String(repeating: "x", count: 5_000)).text.utf8.count <= 256)
    }

    @Test("has the words for a part that can be several, and the text with each")
    func choices() {
        let read = ReadCode("7 pu")
        #expect(read.wrong == nil && read.choices.map(\.word) == ["pumpkin", "puzzle"])
        #expect(read.choices.map(\.text) == ["7-pumpkin-", "7-puzzle-"])
        #expect(ReadCode("7 pumpkin s").choices.first?.text == "7-pumpkin-saffron")
    }
}
