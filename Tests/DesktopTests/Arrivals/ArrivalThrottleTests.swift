import Testing

@testable import Desktop

@Suite("The pace of notifications about arrivals")
struct ArrivalThrottleTests {
    private let start = ContinuousClock.now
    private var throttle = ArrivalThrottle(interval: .seconds(5))

    private func at(_ seconds: Double) -> ContinuousClock.Instant { start + .seconds(seconds) }

    @Test("transfers that come one by one have a notification each")
    mutating func single() {
        for number in 0..<3 {
            let now = at(Double(number * 5))
            throttle.add(.sample("\(number)"), at: now)
            #expect(throttle.take(at: now) == .transfer(.sample("\(number)")))
            #expect(throttle.take(at: now) == nil)
            #expect(throttle.deadline == nil)
        }
    }

    @Test("a second transfer waits until five seconds have passed")
    mutating func second() {
        throttle.add(.sample("a"), at: start)
        _ = throttle.take(at: start)
        throttle.add(.sample("b"), at: at(1))
        #expect(throttle.take(at: at(4.9)) == nil)
        #expect(throttle.deadline == at(5))
        #expect(throttle.take(at: at(5)) == .transfer(.sample("b")))
    }

    @Test("a burst has one notification, which counts on until the burst is over")
    mutating func burst() throws {
        throttle.add(.sample("a"), at: start)
        _ = throttle.take(at: start)
        var notices: [ArrivalThrottle.Notice] = []
        // Ten transfers a second for a minute.
        for step in 1...600 {
            let now = at(Double(step) / 10)
            throttle.add(.sample("b", "c"), at: now)
            if let notice = throttle.take(at: now) { notices.append(notice) }
        }
        #expect(notices.count == 12)
        for (index, notice) in notices.enumerated() {
            guard case .burst(let group, let isNew) = notice else {
                Issue.record("\(notice) is no burst")
                return
            }
            #expect(isNew == (index == 0))
            #expect(group.transfers == 50 * (index + 1))
            #expect(group.count == group.transfers * 2)
            #expect(group.items.count <= ArrivalGroup.keptItems)
        }
        // One more, and then quiet.
        throttle.add(.sample("d"), at: at(60.1))
        guard case .burst(let group, isNew: false)? = throttle.take(at: at(65)) else {
            Issue.record("the burst is not over")
            return
        }
        #expect(group.transfers == 601)
        throttle.add(.sample("e"), at: at(70))
        #expect(throttle.take(at: at(70)) == .transfer(.sample("e")))
    }

    @Test("a burst of several senders says so")
    mutating func senders() {
        throttle.add(.sample("a"), at: start)
        throttle.add(.sample("b"), at: start)
        #expect(throttle.take(at: start)?.group.hasOnePeer == true)
        throttle.add(.sample("c", from: 2), at: at(1))
        #expect(throttle.take(at: at(5))?.group.hasOnePeer == false)
        throttle.add(.sample("d"), at: at(6))
        #expect(throttle.take(at: at(10))?.group.hasOnePeer == false)
    }
}
