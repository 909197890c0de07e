import Synchronization
import Testing

@testable import Sharing

@Suite("A clock that is believed with caution")
struct CautiousClockTests {
    private final class Clocks: Sendable {
        let state = Mutex<(wall: Int64, steady: Int64)>((1_000_000, 0))

        func pass(_ seconds: Int64) { state.withLock { $0 = ($0.wall + seconds * 1_000, $0.steady + seconds) } }
        func set(_ seconds: Int64) { state.withLock { $0.wall += seconds * 1_000 } }

        func make() -> CautiousClock {
            CautiousClock(
                wall: { WallTime(milliseconds: self.state.withLock(\.wall)) },
                steady: { .seconds(self.state.withLock(\.steady)) }, settling: .seconds(600))
        }
    }

    @Test("has no time at first, and then the wall clock's")
    func settling() {
        let clocks = Clocks()
        let clock = clocks.make()
        #expect(clock.now() == nil)
        #expect(!clock.isOver(WallTime(milliseconds: .min)))
        // The wrong clock of the start was put right meanwhile.
        clocks.set(50_000)
        clocks.pass(600)
        #expect(clock.now() == WallTime(milliseconds: 1_000_000 + 50_600_000))
    }

    @Test("goes no faster than time passes, and back with the wall clock")
    func jumps() {
        let clocks = Clocks()
        let clock = clocks.make()
        clocks.pass(600)
        #expect(clock.now() == WallTime(milliseconds: 1_600_000))
        clocks.set(1_000_000)
        #expect(clock.now() == WallTime(milliseconds: 1_600_000))
        clocks.pass(10)
        #expect(clock.now() == WallTime(milliseconds: 1_610_000))
        #expect(clock.isOver(WallTime(milliseconds: 1_610_000)) && !clock.isOver(WallTime(milliseconds: 1_610_001)))
        clocks.set(-1_000_500)
        #expect(clock.now() == WallTime(milliseconds: 1_110_000))
    }

    @Test("is not behind when time has passed while it looked at both clocks, the first time that it believes them")
    func interrupted() {
        let clocks = Clocks()
        let isFirst = Atomic<Bool>(false)
        // The machine sleeps for eight days after the first of the two looks.
        @Sendable func sleepOnce() {
            if isFirst.exchange(false, ordering: .relaxed) { clocks.pass(8 * 86_400) }
        }
        let clock = CautiousClock(
            wall: {
                defer { sleepOnce() }
                return WallTime(milliseconds: clocks.state.withLock(\.wall))
            },
            steady: {
                defer { sleepOnce() }
                return .seconds(clocks.state.withLock(\.steady))
            }, settling: .seconds(600))
        clocks.pass(600)
        isFirst.store(true, ordering: .relaxed)
        _ = clock.now()
        #expect(clock.now() == WallTime(milliseconds: clocks.state.withLock(\.wall)))
    }

    @Test("survives every wall clock", arguments: [Int64.min, .max])
    func extremes(wall: Int64) {
        let clocks = Clocks()
        let clock = clocks.make()
        clocks.pass(600)
        _ = clock.now()
        clocks.state.withLock { $0.wall = wall }
        clocks.state.withLock { $0.steady += 1 }
        #expect(clock.now() != nil)
        let other = clocks.make()
        clocks.state.withLock { $0.steady += 600 }
        #expect(other.now() == WallTime(milliseconds: wall))
        clocks.state.withLock { $0.steady += 600 }
        #expect(other.now() == WallTime(milliseconds: wall))
    }
}
