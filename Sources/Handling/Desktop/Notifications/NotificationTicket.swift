import DBusClient

/// One requested notification. Releasing the ticket does not close it.
package final class NotificationTicket: Sendable {
    /// The notification's events; ends after `closed`. One reader.
    package let events: AsyncStream<NotificationEvent>

    private let number: Int
    private let thread: BusThread<NotificationService>

    init(number: Int, events: AsyncStream<NotificationEvent>, thread: BusThread<NotificationService>) {
        self.number = number
        self.events = events
        self.thread = thread
    }

    /// Changes the notification. If changes come faster than the server answers, only the last one is shown.
    package func update(_ request: NotificationRequest) {
        thread.perform { [number] in $0.update(number, request) }
    }

    /// Closes it. Can be called at any time, and twice.
    package func close() {
        thread.perform { [number] in $0.close(number) }
    }
}
