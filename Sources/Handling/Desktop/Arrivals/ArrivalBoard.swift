import Sharing

/// The notifications about arrivals that stand on the desktop: the newest ones, and the present burst's.
struct ArrivalBoard {
    /// Notifications that stand at once; a new one closes the oldest.
    private static let limit = 4

    private struct Entry {
        var arrival: StandingArrival
        /// The text with the names, while the session is locked; nil for a notification that has it.
        var hidden: NotificationRequest?
    }

    private let notifier: DesktopNotifier
    /// Oldest first.
    private var entries: [Entry] = []
    private var burst: StandingArrival?

    init(_ notifier: DesktopNotifier) {
        self.notifier = notifier
    }

    /// - Parameter request: the text with the names.
    /// - Returns: a new notification; nil if one was updated, or if the user has dismissed that of the burst.
    mutating func show(
        _ notice: ArrivalThrottle.Notice, _ request: NotificationRequest, isLocked: Bool
    ) -> StandingArrival? {
        let group = notice.group
        let text = isLocked ? ArrivalNotice.locked(group) : request
        let hidden = isLocked ? request : nil
        if case .burst(_, isNew: false) = notice, let burst {
            if burst.end == .dismissed { return nil }
            if let index = entries.firstIndex(where: { $0.arrival === burst }), burst.end == nil {
                burst.update(text, group.items)
                entries[index].hidden = hidden
                return nil
            }
        }
        let arrival = StandingArrival(notifier.show(text), group.items)
        if case .burst = notice { burst = arrival }
        entries.removeAll { $0.arrival.end != nil }
        if entries.count == Self.limit { entries.removeFirst().arrival.ticket.close() }
        entries.append(Entry(arrival: arrival, hidden: hidden))
        return arrival
    }

    /// Shows the names: the session was unlocked.
    mutating func unlock() {
        for index in entries.indices {
            guard let request = entries[index].hidden else { continue }
            entries[index].arrival.ticket.update(request)
            entries[index].hidden = nil
        }
    }
}
