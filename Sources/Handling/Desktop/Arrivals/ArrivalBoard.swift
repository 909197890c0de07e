import Sharing
import Synchronization

/// The notifications about arrivals that stand on the desktop: the newest ones, and the present burst's.
struct ArrivalBoard {
    /// Notifications that stand at once; a new one closes the oldest.
    private static let limit = 4

    private struct Entry {
        var arrival: StandingArrival
        /// The text with the names, while they are hidden; nil for a notification that has it.
        var hidden: NotificationRequest?
    }

    private let notifier: DesktopNotifier
    /// Oldest first.
    private var entries: [Entry] = []
    private var burst: StandingArrival?

    init(_ notifier: DesktopNotifier) {
        self.notifier = notifier
    }

    /// Whether a notification waits for its names.
    var hidesNames: Bool { entries.contains { $0.hidden != nil } }

    /// - Parameters:
    ///   - request: the text with the names.
    ///   - cover: the text without them, while they are hidden; nil while they are shown.
    /// - Returns: a new notification; nil if one was updated, or if the user has dismissed that of the burst.
    mutating func show(
        _ notice: ArrivalThrottle.Notice, _ request: NotificationRequest, cover: NotificationRequest?
    ) -> StandingArrival? {
        let group = notice.group
        let text = cover ?? request
        let hidden = cover == nil ? nil : request
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

    /// Shows the names: the session and Waft are unlocked.
    mutating func unlock() {
        for index in entries.indices {
            guard let request = entries[index].hidden else { continue }
            entries[index].arrival.ticket.update(request)
            entries[index].hidden = nil
        }
    }
}

/// A notification about arrivals that was shown.
final class StandingArrival: Sendable {
    private struct State {
        var items: [Arrival]
        var end: NotificationEnd?
    }

    let ticket: NotificationTicket
    private let state: Mutex<State>

    init(_ ticket: NotificationTicket, _ items: [Arrival]) {
        self.ticket = ticket
        state = Mutex(State(items: items))
    }

    /// The items that its buttons are about.
    var items: [Arrival] { state.withLock { $0.items } }

    /// Why it was closed; nil while it stands.
    var end: NotificationEnd? { state.withLock { $0.end } }

    func update(_ request: NotificationRequest, _ items: [Arrival]) {
        state.withLock { $0.items = items }
        ticket.update(request)
    }

    /// Handles its events, until it is closed.
    /// - Parameter fail: gets the reason if a button did nothing.
    func run(_ opening: any ArrivalOpening, fail: @Sendable (String) -> Void) async {
        for await event in ticket.events {
            switch event {
            case .action(ArrivalNotice.openKey):
                if let first = items.first, let reason = await opening.open(first) { fail(reason) }
            case .action(ArrivalNotice.chooseKey):
                if let first = items.first, let reason = await opening.choose(for: first) { fail(reason) }
            case .action(ArrivalNotice.showKey):
                let items = self.items
                if !items.isEmpty, let reason = await opening.show(items) { fail(reason) }
            case .action: break
            case .closed(let end): state.withLock { $0.end = end }
            }
        }
    }
}
