import Testing

@testable import Discovery

@Suite("The rate of datagrams")
struct DatagramRateTests {
    private let start = ContinuousClock.now

    @Test("an address has its share of each second")
    func perAddress() {
        var rate = DatagramRate(perAddress: 2, inAll: 10)
        let first = (0..<4).map { _ in rate.pass([1], at: start) }
        #expect(first == [true, true, false, false])
        let other = rate.pass([2], at: start)
        let early = rate.pass([1], at: start + .milliseconds(999))
        let next = rate.pass([1], at: start + .seconds(1))
        #expect([other, early, next] == [true, false, true])
    }

    @Test("all addresses together have a share too, however many there are")
    func inAll() {
        var rate = DatagramRate()
        let flood = (0..<100_000).count { rate.pass([UInt8($0 & 0xFF), UInt8($0 >> 8 & 0xFF)], at: start) }
        #expect(flood == 200)
        let one = (0..<40).count { _ in rate.pass([9], at: start + .seconds(2)) }
        #expect(one == 20)
    }
}
