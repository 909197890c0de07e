import Endpoints

/// The window of a radio backend follows the visibility. Without I/O and without a clock.
///
///     closed ──wished──▶ (start) ──▶ open ──not wished──▶ (stop) ──▶ closed
///       ▲                   │          │ it ended by itself
///       └────not wished──failed◀───────┘   (start again after a pause)
struct RadioWindow {
    typealias Instant = ContinuousClock.Instant

    /// A window that is wished for.
    struct Wish: Hashable {
        /// Nil: until it is stopped.
        var end: Instant?

        /// Ends that are computed from the time that is left differ a little.
        static let tolerance: Duration = .seconds(2)

        func isSame(as other: Wish) -> Bool {
            guard let end, let otherEnd = other.end else { return end == other.end }
            return end - otherEnd < Self.tolerance && otherEnd - end < Self.tolerance
        }

        /// For the backend; rounded up.
        func seconds(at now: Instant) -> Int? {
            end.map { end in
                let (seconds, rest) = (end - now).components
                return max(1, Int(seconds) + (rest > 0 ? 1 : 0))
            }
        }
    }

    enum Action: Hashable {
        case start(Wish)
        case stop
        /// Ask for the backend's state.
        case look
        /// Wait for another wish, until then at most.
        case wait(until: Instant?)
    }

    private enum State {
        case closed
        case open(Wish, look: Instant)
        /// What was tried for the wish (nil: to close) failed; nil: it is not tried again.
        case failed(Wish?, again: Instant?)
    }

    /// Pauses between looks, and before another try.
    static let lookInterval: Duration = .seconds(15)
    static let firstPause: Duration = .seconds(10)
    static let longestPause: Duration = .seconds(160)
    /// After a fault that only a person can mend.
    static let lastingPause: Duration = .seconds(600)

    private var state: State
    private var failures = 0
    /// Whether the backend's window may be open, by this receiver or by one that crashed.
    private(set) var mayBeOpen: Bool
    /// Why the window is not as it is wished.
    private(set) var fault: RadioFault?

    init(mayBeOpen: Bool = false) {
        self.mayBeOpen = mayBeOpen
        state = .closed
    }

    var isOpen: Bool { if case .open = state { true } else { false } }

    /// Whether all is done for a wish, with success or without.
    func isSettled(for wish: Wish?) -> Bool {
        switch (state, wish) {
        case (.open(let present, _), let wish?): present.isSame(as: wish)
        case (.failed(let tried?, _), let wish?): tried.isSame(as: wish)
        case (_, nil): true
        default: false
        }
    }

    /// - Parameter wish: nil for no window.
    mutating func next(_ wish: Wish?, at now: Instant) -> Action {
        guard let wish else { return close(at: now) }
        switch state {
        case .open(let present, let look) where present.isSame(as: wish):
            return now >= look ? .look : .wait(until: look)
        case .failed(let tried?, let again) where tried.isSame(as: wish):
            guard let again else { return .wait(until: nil) }
            return now >= again ? .start(wish) : .wait(until: again)
        case .closed, .open, .failed:
            mayBeOpen = true
            return .start(wish)
        }
    }

    private mutating func close(at now: Instant) -> Action {
        guard mayBeOpen else {
            (state, fault, failures) = (.closed, nil, 0)
            return .wait(until: nil)
        }
        guard case .failed(nil, let again) = state else { return .stop }
        guard let again else { return .wait(until: nil) }
        return now >= again ? .stop : .wait(until: again)
    }

    mutating func started(_ wish: Wish, _ failure: RadioFault?, at now: Instant) {
        guard let failure else {
            (state, fault, failures) = (.open(wish, look: now + .seconds(1)), nil, 0)
            return
        }
        // One that did not answer may open it yet.
        if case .outOfTime = failure {} else { mayBeOpen = false }
        fail(wish, failure, at: now)
    }

    mutating func stopped(_ failure: RadioFault?, at now: Instant) {
        guard let failure else {
            (state, fault, failures, mayBeOpen) = (.closed, nil, 0, false)
            return
        }
        fail(nil, failure, at: now)
    }

    /// - Parameter status: the backend's; nil if it gave none.
    mutating func looked(_ status: RadioStatus?, at now: Instant) {
        guard case .open(let wish, _) = state else { return }
        // Around its end it may be closed already.
        let isEnding = wish.end.map { $0 - now < Self.lookInterval } ?? false
        guard let status, !status.isVisible, !isEnding else {
            state = .open(wish, look: now + Self.lookInterval)
            return
        }
        fail(wish, .endedEarly(status.reason), at: now)
    }

    private mutating func fail(_ wish: Wish?, _ failure: RadioFault, at now: Instant) {
        fault = failure
        let pause: Duration? =
            switch failure {
            // Each try may ask a person for a password.
            case .refused: nil
            default:
                failure.isPassing
                    ? min(Self.longestPause, Self.firstPause * (1 << min(failures, 10))) : Self.lastingPause
            }
        failures += 1
        state = .failed(wish, again: pause.map { now + $0 })
    }
}
