import Testing

@testable import Endpoints

@Suite("The places for answers to announcements of LocalSend")
struct AnswerSlotsTests {
    private let start = ContinuousClock.now

    @Test("one source with ever new fingerprints leaves places to the others")
    func oneSource() {
        var places = AnswerSlots()
        var taken = 0
        for number in 0..<10_000 {
            let time = start + .milliseconds(number)
            if places.take("\(number)", at: "10.0.0.1", now: time) { taken += 1 }
            guard number % 1_000 == 0 else { continue }
            let isAnswered = places.take("phone", at: "10.0.0.2", now: time)
            #expect(isAnswered)
            places.leave("10.0.0.2")
        }
        #expect(taken == AnswerSlots.atOncePerSource)
    }

    @Test("answers that end at once do not take up what is remembered")
    func fast() {
        var places = AnswerSlots()
        for number in 0..<10_000 {
            if places.take("\(number)", at: "10.0.0.1", now: start) { places.leave("10.0.0.1") }
        }
        let isAnswered = places.take("phone", at: "10.0.0.2", now: start)
        #expect(isAnswered)
    }

    @Test("a device is answered once a second, and eight at the same time")
    func rates() {
        var places = AnswerSlots()
        let first = places.take("a", at: "10.0.0.1", now: start)
        let again = places.take("a", at: "10.0.0.1", now: start + .milliseconds(900))
        let later = places.take("a", at: "10.0.0.1", now: start + AnswerSlots.pause)
        #expect(first && !again && later)
        let others = (2..<12).map { places.take("b", at: "10.0.0.\($0)", now: start + .seconds(2)) }
        #expect(others.count { $0 } == AnswerSlots.atOnce - 2)
    }
}
