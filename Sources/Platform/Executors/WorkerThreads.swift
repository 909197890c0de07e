private import DequeModule
private import Synchronization

/// Threads that take work from one queue, first come, first served.
///
/// They start on demand and never end. The thread that became idle last works next: a task stays on one thread while
/// nothing else runs, with its stack and heap in the cache, and the extra threads of a busy moment cost nothing
/// afterwards.
final class WorkerThreads: Sendable {
    private struct State {
        var waiting = Deque<Work>()
        /// Threads that wait for work, the longest waiting first.
        var idle: [Semaphore] = []
        var threads = 0
        /// Maximum number of threads that may work at the same time now.
        var allowed: Int
        /// Number of jobs begun so far.
        var begun: UInt64 = 0
        /// Whether a later check is scheduled for waiting jobs.
        var isWatched = false

        var working: Int { threads - idle.count }
    }

    private enum Hand {
        case woken(Semaphore)
        case new
        /// The working threads will take the job.
        case none
    }

    private let state: Mutex<State>
    private let usual: Int
    private let most: Int
    private let timekeeper: Timekeeper?
    /// How long work waits beside unfinished work until one more thread may work: nanoseconds.
    private static let patience: UInt64 = 10_000_000

    /// - Parameters:
    ///   - usual: maximum number that work at the same time, at least 1.
    ///   - most: maximum when work waits because the working threads are blocked. With more than `usual` there must be
    ///   a `timekeeper`.
    init(usual: Int, most: Int, timekeeper: Timekeeper? = nil) {
        precondition(usual >= 1 && most >= usual && (most == usual || timekeeper != nil))
        self.state = Mutex(State(allowed: usual))
        self.usual = usual
        self.most = most
        self.timekeeper = timekeeper
    }

    func enqueue(_ work: Work) {
        let (hand, mustWatch) = state.withLock { state -> (Hand, Bool) in
            state.waiting.append(work)
            let hand = Self.hand(&state)
            guard case .none = hand, state.allowed < most, !state.isWatched else { return (hand, false) }
            state.isWatched = true
            return (hand, true)
        }
        give(hand)
        if mustWatch { watch(from: nil) }
    }

    private static func hand(_ state: inout State) -> Hand {
        guard state.working < state.allowed else { return .none }
        if let doorbell = state.idle.popLast() { return .woken(doorbell) }
        state.threads += 1
        return .new
    }

    private func give(_ hand: Hand) {
        switch hand {
        case .woken(let doorbell): doorbell.signal()
        case .new: start()
        case .none: break
        }
    }

    private func start() {
        let isStarted = BackgroundThread.start { [self] in work() }
        guard !isStarted else { return }
        let isAlone = state.withLock { state in
            state.threads -= 1
            return state.threads == 0
        }
        // Other threads would take the job later. Without any, a task that never runs again would never end.
        precondition(!isAlone, "no thread could be started")
    }

    private func work() {
        let doorbell = Semaphore()
        while true {
            let work = state.withLock { state -> Work? in
                if let work = state.waiting.popFirst() {
                    state.begun += 1
                    return work
                }
                state.idle.append(doorbell)
                // No thread is blocked any more.
                if state.working < usual { state.allowed = usual }
                return nil
            }
            if let work { work.run() } else { doorbell.wait() }
        }
    }

    /// Checks after a while, and as long as jobs wait.
    /// - Parameter begun: number of jobs begun at the last check.
    private func watch(from begun: UInt64?) {
        guard let timekeeper else { return }
        timekeeper.schedule(after: Self.patience) { [self] in
            let (hand, now) = state.withLock { state -> (Hand, UInt64?) in
                guard !state.waiting.isEmpty else {
                    state.isWatched = false
                    return (.none, nil)
                }
                // No job began since: all working threads are blocked, or take long.
                guard state.begun == begun, state.allowed < most else { return (.none, state.begun) }
                state.allowed += 1
                return (Self.hand(&state), state.begun)
            }
            give(hand)
            if let now { watch(from: now) }
        }
    }
}
