import Foundation
package import Logging
private import Synchronization

/// Shows notifications on the user's desktop, by the Desktop Notifications Specification 1.2 over the session bus.
///
/// Nothing here blocks, throws or starts a program. Where there is no session bus, no notification server on it, or one
/// that shows no actions, that is logged once and nothing is shown; what is still wanted when there is a server (again)
/// is shown then. One thread of its own, which sleeps until something happens; it ends when the notifier is let go of,
/// or stopped.
package final class DesktopNotifier: Sendable {
    private let thread: NotifierThread
    private let last = Atomic<Int>(0)

    /// - Parameters:
    ///   - environment: `DBUS_SESSION_BUS_ADDRESS` and `XDG_RUNTIME_DIR` say where the bus is.
    ///   - limit: most notifications at once, besides the one for the rest.
    ///   - burst: so many new ones may come in a row, then one each `pace`.
    ///   - patience: how long a bus or a server may be silent before that is logged, and a bus left.
    ///   - surplus: what is said of how many there is no place for, 1 or more.
    package init(
        environment: [String: String] = ProcessInfo.processInfo.environment,
        limit: Int = NotificationLimits.open,
        burst: Int = NotificationLimits.burst,
        pace: Duration = NotificationLimits.pace,
        patience: Duration = NotificationLimits.patience,
        logger: Logger,
        surplus: @escaping @Sendable (Int) -> NotificationRequest
    ) {
        let board = NotificationBoard(limit: limit, burst: burst, pace: pace, surplus: surplus)
        thread = NotifierThread(environment: environment, board: board, patience: patience, logger: logger)
    }

    deinit {
        thread.stop()
    }

    /// Shows a notification as soon as there is a server and a place for it.
    package func show(_ request: NotificationRequest) -> NotificationTicket {
        let number = last.add(1, ordering: .relaxed).newValue
        let (events, inlet) = AsyncStream<NotificationEvent>.makeStream(bufferingPolicy: .bufferingOldest(64))
        thread.perform { $0.show(number, request, inlet) }
        return NotificationTicket(number: number, events: events, thread: thread)
    }

    /// Closes all that is shown, and returns when the bus has taken that, or a second later. Nothing is shown any more.
    package func stop() async {
        await withCheckedContinuation { continuation in
            thread.stop { continuation.resume() }
        }
    }
}
