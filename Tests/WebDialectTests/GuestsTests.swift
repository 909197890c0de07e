import Sharing
import Testing

@testable import WebDialect

@Suite("The guests of a page")
struct GuestsTests {
    private var guests = Guests()

    @discardableResult
    private mutating func add(_ name: String, at address: UInt32, atWork: Set<String> = []) -> Bool {
        guests.add(Guest(token: name), at: AddressKey(v4: address), isAtWork: { atWork.contains($0.token) })
    }

    private func knows(_ name: String) -> Bool { guests.guest(name) != nil }

    @Test("whoever comes in as ever more guests takes places of nobody else")
    mutating func crowd() {
        for address in 1...3 { add("guest \(address)", at: UInt32(address)) }
        for number in 0..<1_000 { add("crowd \(number)", at: 99) }
        for address in 1...3 { #expect(knows("guest \(address)")) }
        #expect(knows("crowd 999") && !knows("crowd 0"))
    }

    @Test("a guest whose files come, and one whose request is answered, are never forgotten")
    mutating func atWork() {
        for name in ["sends", "asks", "asked", "rests"] { add(name, at: 1) }
        for name in ["asks", "asked"] { _ = guests.beginRequest(Guest(token: name)) }
        guests.endRequest(Guest(token: "asked"))
        for number in 0..<WebLimits.guests + 10 { add("\(number)", at: 1, atWork: ["sends"]) }
        #expect(knows("sends") && knows("asks"))
        #expect(!knows("asked") && !knows("rests"))
    }

    @Test("nobody comes in while all guests are at work")
    mutating func full() {
        for number in 0..<WebLimits.guests { add("\(number)", at: UInt32(number)) }
        let isIn = add("new", at: 9, atWork: Set((0..<WebLimits.guests).map(String.init)))
        #expect(!isIn)
        #expect(knows("0") && !knows("new"))
    }

    @Test("the guest that was not heard of for the longest time is forgotten first")
    mutating func oldest() {
        for number in 0..<WebLimits.guests { add("\(number)", at: 1) }
        _ = guests.beginRequest(Guest(token: "0"))
        guests.endRequest(Guest(token: "0"))
        add("new", at: 1)
        #expect(knows("0") && !knows("1"))
    }
}
