import Foundation
import Synchronization
import Testing

@testable import Executors

@Suite("The timers of the queue", .timeLimit(.minutes(1)))
struct TimekeeperTests {
    private func keeper() throws -> Timekeeper { try #require(Timekeeper(clock: CLOCK_MONOTONIC)) }

    @Test("rings in the order of the times, set in any order")
    func order() async throws {
        let keeper = try keeper()
        let (rings, continuation) = AsyncStream<Int>.makeStream()
        let order = [3, 9, 1, 7, 5, 2, 8, 4, 6, 0]
        // Far enough from now that all timers are set before the first one fires.
        let first = keeper.now + 1_000_000_000
        for number in order { keeper.schedule(at: first + UInt64(number)) { continuation.yield(number) } }
        let heard = await rings.prefix(order.count).reduce(into: []) { $0.append($1) }
        #expect(heard == order.sorted())
    }

    @Test("rings for the timer that was set last and is the earliest")
    func earlier() async throws {
        let keeper = try keeper()
        let (rings, continuation) = AsyncStream<String>.makeStream()
        keeper.schedule(after: 3_600_000_000_000) { continuation.yield("in an hour") }
        keeper.schedule(after: 1_000_000) { continuation.yield("in a millisecond") }
        #expect(await rings.first { _ in true } == "in a millisecond")
    }

    @Test("rings at once for no time at all, and never for the longest there is")
    func ends() async throws {
        let keeper = try keeper()
        let (rings, continuation) = AsyncStream<String>.makeStream()
        keeper.schedule(after: .max) { continuation.yield("never") }
        keeper.schedule(at: 0) { continuation.yield("now") }
        keeper.schedule(after: 0) { continuation.yield("soon") }
        let heard = await rings.prefix(2).reduce(into: []) { $0.append($1) }
        #expect(heard == ["now", "soon"])
    }

    @Test("rings no earlier than it was asked to", arguments: [1_000, 100_000, 20_000_000] as [UInt64])
    func notBefore(delay: UInt64) async throws {
        let keeper = try keeper()
        let start = SuspendingClock.now
        let end = await withCheckedContinuation { continuation in
            keeper.schedule(after: delay) { continuation.resume(returning: SuspendingClock.now) }
        }
        #expect(end - start >= .nanoseconds(delay))
    }

    @Test("rings when the clock has jumped ahead, for timers of before and after")
    func jumped() async throws {
        let ahead = Ahead()
        let hour: UInt64 = 3_600_000_000_000
        let keeper: Timekeeper = try #require(
            Timekeeper(clock: CLOCK_MONOTONIC) { systemTime(CLOCK_MONOTONIC) + ahead.nanoseconds })
        let (rings, continuation) = AsyncStream<String>.makeStream()
        keeper.schedule(after: hour) { continuation.yield("before") }
        ahead.jump(10 * hour)
        // The kernel's timer does not know the change.
        keeper.schedule(after: 1_000_000) { continuation.yield("after") }
        let heard = await rings.prefix(2).reduce(into: []) { $0.append($1) }
        #expect(heard == ["before", "after"])
    }

    private final class Ahead: Sendable {
        private let state = Mutex<UInt64>(0)

        func jump(_ nanoseconds: UInt64) { state.withLock { $0 += nanoseconds } }

        var nanoseconds: UInt64 { state.withLock { $0 } }
    }

    @Test("a thousand set at the same time by many all ring, once each")
    func many() async throws {
        let keeper = try keeper()
        let (rings, continuation) = AsyncStream<Int>.makeStream()
        await withTaskGroup(of: Void.self) { group in
            for part in 0..<10 {
                group.addTask {
                    for number in 0..<100 {
                        keeper.schedule(after: UInt64(number % 7) * 1_000_000) {
                            continuation.yield(part * 100 + number)
                        }
                    }
                }
            }
        }
        let heard = await rings.prefix(1_000).reduce(into: []) { $0.append($1) }
        #expect(heard.sorted() == Array(0..<1_000))
    }
}

private func systemTime(_ clock: clockid_t) -> UInt64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
