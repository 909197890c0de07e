import Sharing
import Testing

@Suite("Guesses of a PIN")
struct PINGuessTests {
    private let start = ContinuousClock.now

    private func address(_ number: Int) -> AddressKey { AddressKey(v4: 0x0A00_0000 | UInt32(number)) }

    /// The answers to guesses of ten thousand addresses, one a second, each of them with `digits`.
    private func answers(_ guesses: inout PINGuesses, rounds: Int = 1, _ digits: (Int) -> String) -> [PINGuesses.Answer]
    {
        (0..<10_000 * rounds).map { number in
            let now = start + .seconds(number)
            return guesses.answer(digits(number), "123456", from: address(number % 10_000), at: now)
        }
    }

    @Test("ten thousand addresses together get fifty guesses compared, then none for ten minutes")
    func budget() {
        var guesses = PINGuesses(tries: 5)
        let answers = answers(&guesses) { _ in "654321" }
        let compared = answers.indices.filter { answers[$0] == .wrong || answers[$0] == .spent }
        // A rest begins with the fiftieth guess, and lasts 600 seconds.
        #expect(compared.count(where: { answers[$0] == .spent }) == compared.count / PINGuesses.budget)
        for (first, next) in zip(compared, compared.dropFirst(50)) { #expect(next - first >= 600) }
        #expect(compared.count <= (answers.count / 600 + 1) * PINGuesses.budget)
    }

    @Test("after the budget even the right PIN is not compared, whatever the address")
    func rest() {
        var guesses = PINGuesses(tries: 5)
        let answers = answers(&guesses) { $0 < 50 ? "654321" : "123456" }
        #expect(answers[..<50].last == .spent)
        #expect(answers[50..<649].allSatisfy { $0 == .tooMany })
        #expect(answers[649] == .right)
    }

    @Test("a full table refuses addresses that it cannot count, before it compares their PIN")
    func table() {
        var guesses = PINGuesses(tries: 5)
        // All within the time of the first: no address is forgotten.
        for number in 0..<1_024 {
            #expect([.wrong, .spent].contains(guesses.answer("654321", "123456", from: address(number), at: start)))
            guesses.pinHasChanged()
        }
        #expect(guesses.answer("123456", "123456", from: address(5_000), at: start) == .tooMany)
        #expect(guesses.answer("123456", "123456", from: address(3), at: start) == .right)
    }

    @Test("a new PIN ends the rest, and an address that was wrong too often waits on")
    func change() {
        var guesses = PINGuesses(tries: 5)
        for _ in 0..<5 { #expect(guesses.answer("1", "123456", from: address(1), at: start) == .wrong) }
        for number in 2..<47 { _ = guesses.answer("1", "123456", from: address(number), at: start) }
        #expect(guesses.answer("222222", "222222", from: address(90), at: start) == .tooMany)
        guesses.pinHasChanged()
        #expect(guesses.answer("222222", "222222", from: address(90), at: start) == .right)
        #expect(guesses.answer("222222", "222222", from: address(1), at: start) == .tooMany)
    }
}
