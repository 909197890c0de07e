import Sharing
import TestSupport
import Testing

@testable import Desktop

@Suite("The arrivals that a notification is about")
struct ArrivalCollectorTests {
    private let now = ContinuousClock.now
    private let id = TransferID()

    /// - Returns: the items of the last group that was complete.
    @discardableResult
    private func see(_ collector: inout ArrivalCollector, _ events: Reception.Event...) -> [Int64]? {
        var last: ArrivalGroup?
        for event in events { last = collector.see(event, at: now) ?? last }
        return last?.items.map(\.number.value)
    }

    @Test("are all items of a transfer, when it has ended")
    func whole() {
        var collector = ArrivalCollector()
        #expect(see(&collector, .stored([.sample(1, of: id)]), .stored([.sample(2, item: 1, of: id)])) == nil)
        #expect(collector.deadline == nil)
        #expect(see(&collector, .ended(id, .none, .none)) == [1, 2])
        #expect(collector.deadline == nil)
    }

    @Test("leave out the items to which a handler said yes, before and after the end")
    func handled() {
        var collector = ArrivalCollector()
        let items = (0..<3).map { Arrival.sample(Int64($0), item: $0, of: id) }
        for item in items { see(&collector, .stored([item])) }
        see(&collector, .opened(items[0], HandlerAnswer(.yes)))
        #expect(see(&collector, .ended(id, .pending, .pending, .pending)) == nil)
        #expect(see(&collector, .opened(items[1], HandlerAnswer(.later))) == nil)
        #expect(see(&collector, .opened(items[1], HandlerAnswer(.yes))) == nil)
        #expect(see(&collector, .opened(items[2], HandlerAnswer(.no))) == [2])
    }

    @Test("are none if handlers said yes to all, if nothing was stored, and if the terminal has asked")
    func silent() {
        var collector = ArrivalCollector()
        #expect(see(&collector, .stored([.sample(1, of: id)]), .ended(id, .yes)) == nil)
        #expect(see(&collector, .ended(TransferID(), .none)) == nil)
        let asked = TransferID()
        collector.acceptedHere(asked, from: .sample(1))
        #expect(see(&collector, .stored([.sample(2, of: asked)]), .ended(asked, .none)) == nil)
        // The same identifier from another peer is another transfer.
        let other = Arrival.sample(3, of: asked, from: 2)
        #expect(see(&collector, .stored([other]), .ended(asked, .none, from: 2)) == [3])
        #expect(collector.deadline == nil)
    }

    @Test("wait for a handler for a bounded time")
    func slow() {
        var collector = ArrivalCollector()
        see(&collector, .stored([.sample(1, of: id)]), .ended(id, .pending))
        let deadline = now + ArrivalCollector.answerWait
        #expect(collector.deadline == deadline)
        #expect(collector.overdue(at: deadline - .milliseconds(1)).isEmpty)
        #expect(collector.overdue(at: deadline).map(\.count) == [1])
        #expect(collector.deadline == nil)
    }

    @Test("are counted, and the first ones are kept")
    func many() throws {
        var collector = ArrivalCollector()
        for number in 1...1_000 { see(&collector, .stored([.sample(Int64(number), of: id)])) }
        let seen = collector.see(.ended(id, .none), at: now)
        let group = try #require(seen)
        #expect(group.count == 1_000)
        #expect(group.items.count == ArrivalGroup.keptItems)
    }

    @Test("of very many accepted transfers are no burden")
    func remembered() {
        var collector = ArrivalCollector()
        let first = TransferID()
        collector.acceptedHere(first, from: .sample(1))
        for _ in 0..<1_000 { collector.acceptedHere(TransferID(), from: .sample(1)) }
        #expect(see(&collector, .stored([.sample(1, of: first)]), .ended(first, .none)) == [1])
    }
}
