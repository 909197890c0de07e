import TestSupport
import Testing

@testable import Sharing

@Suite("Values of peers within shares")
struct PeerSharesTests {
    @Test("a peer that fills its share forgets its own oldest values, and no other's")
    func flood() {
        var shares = PeerShares<Int, Int>(limit: 10, perPeer: 4)
        shares.set(0, 0, of: .sample(1))
        for number in 1...1_000 { shares.set(number, number, of: .sample(2)) }
        #expect((0...1_000).filter { shares[$0] != nil } == [0, 997, 998, 999, 1_000])
    }

    @Test("many peers together forget the oldest value, and a changed or removed value counts once")
    func all() {
        var shares = PeerShares<Int, Int>(limit: 10, perPeer: 4)
        for number in 1...12 { shares.set(number, number, of: .sample(UInt8(number))) }
        #expect((1...12).filter { shares[$0] != nil } == Array(3...12))
        shares.set(3, 33, of: .sample(3))
        #expect(shares.remove(3) == 33)
        #expect(shares.remove(3) == nil)
        shares.set(20, 20, of: .sample(20))
        #expect([4, 12, 20].allSatisfy { shares[$0] != nil })
    }
}
