import DBusClient
import Foundation
package import Logging
private import Synchronization

/// Shows notifications on the user's desktop, by the Desktop Notifications Specification 1.2 over the session bus.
///
/// Nothing here blocks, throws or starts a program. If there is no session bus or no notification server, it logs this
/// once and shows nothing. A server without actions gets plain text. When a server appears, it shows the notifications that
/// are still wanted. It has one thread, which sleeps until an event. The thread ends when the notifier is released or
/// stopped.
package final class DesktopNotifier: Sendable {
    private let thread: BusThread<NotificationService>
    private let logger: Logger
    private let last = Atomic<Int>(0)

    /// - Parameters:
    ///   - environment: `DBUS_SESSION_BUS_ADDRESS` and `XDG_RUNTIME_DIR` name the bus.
    ///   - limit: maximum number of notifications at once, not counting the one for the surplus.
    ///   - burst: number of new ones that may appear in a row; after that, one for each `pace`.
    ///   - timeout: how long a bus or a server may be silent before that is logged. A silent bus is left.
    ///   - surplus: makes the notification for the surplus from its number, 1 or more.
    package init(
        environment: [String: String] = ProcessInfo.processInfo.environment,
        limit: Int = NotificationLimits.open,
        burst: Int = NotificationLimits.burst,
        pace: Duration = NotificationLimits.pace,
        timeout: Duration = NotificationLimits.timeout,
        logger: Logger,
        surplus: @escaping @Sendable (Int) -> NotificationRequest
    ) {
        let board = NotificationBoard(limit: limit, burst: burst, pace: pace, surplus: surplus)
        self.logger = logger
        thread = BusThread(name: "waft-notify") {
            NotificationService(environment: environment, board: board, timeout: timeout, logger: logger)
        }
    }

    deinit {
        thread.stop()
    }

    /// Shows a notification as soon as a server runs and a place is free.
    package func show(_ request: NotificationRequest) -> NotificationTicket {
        let number = last.add(1, ordering: .relaxed).newValue
        let (events, inlet) = AsyncStream<NotificationEvent>.makeStream(bufferingPolicy: .bufferingOldest(64))
        if !thread.perform({ $0.show(number, request, inlet) }) {
            logger.warning(
                "desktop notifications",
                metadata: ["state": "none is shown: the notifier has stopped, or has no thread"])
        }
        return NotificationTicket(number: number, events: events, thread: thread)
    }

    /// Closes all notifications and shows no more. Returns when the bus has taken the calls, or a second later.
    package func stop() async {
        await withCheckedContinuation { continuation in
            thread.stop { continuation.resume() }
        }
    }
}
