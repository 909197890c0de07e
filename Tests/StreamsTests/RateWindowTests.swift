import Testing

@testable import Streams

@Suite("The rate of a window")
struct RateWindowTests {
    private let start = ContinuousClock.now

    @Test("a key has its share of each window")
    func perAddress() {
        var rate = RateWindow<[UInt8]>(of: .seconds(1), each: 2, inAll: 10)
        let first = (0..<4).map { _ in rate.pass([1], at: start) }
        #expect(first == [true, true, false, false])
        let other = rate.pass([2], at: start)
        let early = rate.pass([1], at: start + .milliseconds(999))
        let next = rate.pass([1], at: start + .seconds(1))
        #expect([other, early, next] == [true, false, true])
    }

    @Test("all keys together have a share too, however many there are")
    func inAll() {
        var rate = RateWindow<[UInt8]>(of: .seconds(1), each: 20, inAll: 200)
        let flood = (0..<100_000).count { rate.pass([UInt8($0 & 0xFF), UInt8($0 >> 8 & 0xFF)], at: start) }
        #expect(flood == 200)
        let one = (0..<40).count { _ in rate.pass([9], at: start + .seconds(2)) }
        #expect(one == 20)
    }
}
