import Testing

@testable import Sharing

@Suite("How a transfer comes along")
struct TransferPulseTests {
    @Test("is published at once, and then 20 times a second, however often bytes come")
    func telling() {
        let pulse = TransferPulse()
        let start = ContinuousClock.now
        let told = (0..<1_000).filter { pulse.beat(UInt64($0), at: start + .milliseconds($0)) }
        #expect(told == Array(stride(from: 0, to: 1_000, by: 50)))
    }

    @Test("is known also when it is not told")
    func state() {
        let pulse = TransferPulse()
        let start = ContinuousClock.now
        _ = pulse.beat(1, at: start)
        #expect(!pulse.beat(2, at: start + .milliseconds(1)))
        #expect(pulse.state == (received: 2, last: start + .milliseconds(1)))
    }
}
