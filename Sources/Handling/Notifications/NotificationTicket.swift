/// One notification that was asked for. It is not closed by being let go of.
package final class NotificationTicket: Sendable {
    /// What becomes of it; ends after `closed`. One reader.
    package let events: AsyncStream<NotificationEvent>

    private let number: Int
    private let thread: NotifierThread

    init(number: Int, events: AsyncStream<NotificationEvent>, thread: NotifierThread) {
        self.number = number
        self.events = events
        self.thread = thread
    }

    /// Changes what is shown. What comes faster than the server answers is left out, but for the last.
    package func update(_ request: NotificationRequest) {
        thread.perform { [number] in $0.update(number, request) }
    }

    /// Takes it from the desktop. Can be called at any time, and twice.
    package func close() {
        thread.perform { [number] in $0.close(number) }
    }
}
