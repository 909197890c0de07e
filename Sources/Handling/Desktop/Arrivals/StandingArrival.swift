import Sharing
import Synchronization

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
