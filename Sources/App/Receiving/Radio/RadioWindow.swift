import Endpoints

/// The window of a radio backend follows the visibility. Without I/O and without a clock.
///
///     closed ──wished──▶ starting ──▶ open ──not wished──▶ stopping ──▶ closed
///                           │           │ it ended by itself   │
///                           └────────▶ failed ◀────────────────┘
///                                         └──after a pause, or another choice of the user──▶ starting, stopping
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
        /// - Parameter wasOpen: whether a window may have been open before.
        case starting(Wish, wasOpen: Bool)
        case open(Wish, look: Instant)
        case stopping
        /// What was tried for the wish (nil: to close) failed; nil: it is not tried again.
        case failed(Wish?, again: Instant?)
    }

    /// Pauses between looks, and before another try.
    static let lookInterval: Duration = .seconds(15)
    static let firstPause: Duration = .seconds(10)
    static let longestPause: Duration = .seconds(160)
    /// After a fault that only a person can mend.
    static let lastingPause: Duration = .seconds(600)

    private var state = State.closed
    private var failures = 0
    /// The mark of the last choice of the user.
    private var chosen: UInt32?
    /// Whether the backend's window may be open, by this receiver or by one that crashed.
    private(set) var mayBeOpen: Bool
    /// Why the window is not as it is wished.
    private(set) var fault: RadioFault?

    init(mayBeOpen: Bool = false) { self.mayBeOpen = mayBeOpen }

    var isOpen: Bool { if case .open = state { true } else { false } }

    /// Whether the backend has been told to open a window, and has not answered.
    var isStarting: Bool { if case .starting = state { true } else { false } }

    /// Whether all is done for a wish, with success or without.
    /// - Parameter chosen: as in `next`.
    func isSettled(for wish: Wish?, chosen: UInt32? = nil) -> Bool {
        switch state {
        case .closed: wish == nil && !mayBeOpen
        case .starting, .stopping: false
        case .open(let present, _): wish.map(present.isSame) ?? false
        case .failed(let tried, _):
            Self.isSame(tried, wish) && chosen == self.chosen || wish == nil && !mayBeOpen
        }
    }

    private static func isSame(_ wish: Wish?, _ other: Wish?) -> Bool {
        if let wish, let other { wish.isSame(as: other) } else { wish == other }
    }

    /// - Parameters:
    ///   - wish: nil for no window.
    ///   - chosen: the mark of the user's choice. If the user chooses the same again, a failed try is repeated at once.
    mutating func next(_ wish: Wish?, chosen: UInt32? = nil, at now: Instant) -> Action {
        let isChosenAgain = chosen != self.chosen
        self.chosen = chosen
        if isChosenAgain { failures = 0 }
        switch state {
        case _ where wish == nil && !mayBeOpen:
            (state, fault, failures) = (.closed, nil, 0)
            return .wait(until: nil)
        case .open(let present, let look) where Self.isSame(present, wish):
            return now >= look ? .look : .wait(until: look)
        case .failed(let tried, let again) where Self.isSame(tried, wish) && !isChosenAgain:
            guard let again, now >= again else { return .wait(until: again) }
        default: break
        }
        fault = nil
        state = wish.map { .starting($0, wasOpen: mayBeOpen) } ?? .stopping
        mayBeOpen = true
        return wish.map { .start($0) } ?? .stop
    }

    mutating func started(_ failure: RadioFault?, at now: Instant) {
        guard case .starting(let wish, let wasOpen) = state else { return }
        guard let failure else {
            (state, failures) = (.open(wish, look: now + .seconds(1)), 0)
            return
        }
        mayBeOpen = wasOpen || !failure.hasOpenedNothing
        fail(wish, failure, at: now)
    }

    mutating func stopped(_ failure: RadioFault?, at now: Instant) {
        guard let failure else {
            (state, failures, mayBeOpen) = (.closed, 0, false)
            return
        }
        fail(nil, .staysOpen(failure), at: now)
    }

    /// - Parameters:
    ///   - fault: of the answer, or of the link; nil if all is well.
    ///   - status: the backend's; nil if it gave none.
    mutating func looked(_ status: RadioStatus?, _ fault: RadioFault?, at now: Instant) {
        guard case .open(let wish, _) = state else { return }
        // Around its end it may be closed already.
        let isEnding = wish.end.map { $0 - now < Self.lookInterval } ?? false
        self.fault = isEnding ? nil : fault
        guard !isEnding, let status, !status.isVisible || fault == .noLink else {
            state = .open(wish, look: now + Self.lookInterval)
            return
        }
        fail(wish, status.isVisible ? .noLink : .endedEarly(status.reason), at: now)
    }

    private mutating func fail(_ wish: Wish?, _ failure: RadioFault, at now: Instant) {
        fault = failure
        let pause: Duration? =
            switch failure {
            // Each try may ask a person for a password.
            case .refused, .staysOpen(.refused): nil
            default:
                failure.isPassing
                    ? min(Self.longestPause, Self.firstPause * (1 << min(failures, 10))) : Self.lastingPause
            }
        failures += 1
        state = .failed(wish, again: pause.map { now + $0 })
    }
}
