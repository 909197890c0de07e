/// Bounds the notifications about arrivals: at most one in an interval, then one that counts. Sans I/O.
///
/// A burst begins when several transfers wait for the same notification. It ends when an interval passes without a
/// transfer; until then its notification counts on.
struct ArrivalThrottle {
    enum Notice: Hashable {
        /// One transfer.
        case transfer(ArrivalGroup)
        /// All transfers of a burst so far.
        /// - Parameter isNew: whether no notification of this burst was given before.
        case burst(ArrivalGroup, isNew: Bool)

        var group: ArrivalGroup {
            switch self {
            case .transfer(let group), .burst(let group, _): group
            }
        }
    }

    private let interval: Duration
    /// When the next notice may be given; nil before the first one.
    private var next: ContinuousClock.Instant?
    private var waiting: ArrivalGroup?
    /// The contents of the present burst's notice; nil outside a burst.
    private var burst: ArrivalGroup?

    /// - Parameter interval: not negative.
    init(interval: Duration) {
        self.interval = interval
    }

    mutating func add(_ group: ArrivalGroup, at now: ContinuousClock.Instant) {
        if waiting == nil, let next, next <= now { burst = nil }
        if waiting?.add(group) == nil { waiting = group }
    }

    /// The notice that is due.
    mutating func take(at now: ContinuousClock.Instant) -> Notice? {
        guard let group = waiting, (next ?? now) <= now else { return nil }
        waiting = nil
        next = now + interval
        if var burst {
            burst.add(group)
            self.burst = burst
            return .burst(burst, isNew: false)
        }
        if group.transfers == 1 { return .transfer(group) }
        burst = group
        return .burst(group, isNew: true)
    }

    /// When a notice is, or was, due; nil if none waits, or if it is due at once.
    var deadline: ContinuousClock.Instant? { waiting == nil ? nil : next }
}
