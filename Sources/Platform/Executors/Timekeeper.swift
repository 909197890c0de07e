import CLinuxShims
import Glibc
private import HeapModule
private import Synchronization

/// Calls back at a time, on a thread of its own that sleeps until then.
final class Timekeeper: Sendable {
    private struct Alarm: Comparable {
        /// On this keeper's clock, nanoseconds.
        let deadline: UInt64
        /// Of two alarms with the same deadline, the one scheduled first rings first.
        let number: UInt64
        let ring: @Sendable () -> Void

        static func < (one: Alarm, other: Alarm) -> Bool {
            (one.deadline, one.number) < (other.deadline, other.number)
        }

        static func == (one: Alarm, other: Alarm) -> Bool { one.number == other.number }
    }

    private struct State {
        var alarms = Heap<Alarm>()
        var scheduled: UInt64 = 0
        var hasThread = false
    }

    private let state = Mutex(State())
    private let reading: @Sendable () -> UInt64
    /// A timer descriptor; reading it blocks until the timer expires. Never closed, as the thread never ends.
    private let timer: Int32
    /// The maximum sleep, a hundred years, in nanoseconds: it stands for no alarm.
    private static let forever: UInt64 = 100 * 365 * 86_400 * 1_000_000_000

    /// - Parameters:
    ///   - clock: `CLOCK_BOOTTIME`, which continues while the machine sleeps, or `CLOCK_MONOTONIC`.
    ///   - reading: returns the clock's time, in nanoseconds; nil asks the system.
    /// - Returns: nil when the system has no timer to give.
    init?(clock: clockid_t, reading: (@Sendable () -> UInt64)? = nil) {
        timer = CLinuxShims_timerfd(clock)
        self.reading = reading ?? { Self.system(clock) }
        guard timer >= 0 else { return nil }
    }

    /// - Parameters:
    ///   - delay: nanoseconds.
    ///   - ring: is called once, on the keeper's thread, and must not block.
    func schedule(after delay: UInt64, _ ring: @escaping @Sendable () -> Void) {
        schedule(at: now + min(delay, Self.forever), ring)
    }

    /// - Parameter deadline: on this keeper's clock, nanoseconds.
    func schedule(at deadline: UInt64, _ ring: @escaping @Sendable () -> Void) {
        let isFirstEver = state.withLock { state in
            state.scheduled += 1
            state.alarms.insert(Alarm(deadline: deadline, number: state.scheduled, ring: ring))
            // Under the lock: the last to set the timer has seen all alarms. A due one was overtaken by the clock.
            if let next = state.alarms.min, next.number == state.scheduled || next.deadline <= now {
                set(next.deadline)
            }
            defer { state.hasThread = true }
            return !state.hasThread
        }
        guard isFirstEver else { return }
        precondition(BackgroundThread.start { [self] in keep() }, "no thread could be started")
    }

    private func keep() {
        while true {
            var count: UInt64 = 0
            // Blocks until the timer expires. If another thread sets it meanwhile, it waits for the new time.
            guard read(timer, &count, MemoryLayout.size(ofValue: count)) > 0 else { continue }
            let now = now
            let due = state.withLock { state in
                var due: [Alarm] = []
                while let next = state.alarms.min, next.deadline <= now { due.append(state.alarms.removeMin()) }
                if let next = state.alarms.min { set(next.deadline) }
                return due
            }
            for alarm in due { alarm.ring() }
        }
    }

    /// Sets the timer by the remaining time, not by the deadline: after a jump of the clock, a timer set by the clock's
    /// time might never expire.
    private func set(_ deadline: UInt64) {
        let now = now
        let rest = deadline > now ? deadline - now : 0
        precondition(CLinuxShims_timerfd_set(timer, rest) == 0, "a timer could not be set")
    }

    /// The clock's time, in nanoseconds.
    var now: UInt64 { reading() }

    private static func system(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
