/// The events of a loop, in the order of arrival: anyone posts them, one task takes them.
///
/// A mailbox ends when it is closed, or when the task that waits for the next event is cancelled.
package final class Mailbox<Event: Sendable>: Sendable {
    private let events: AsyncStream<Event>
    private let inlet: AsyncStream<Event>.Continuation

    package init() {
        (events, inlet) = AsyncStream.makeStream()
    }

    /// - Returns: false if the mailbox has ended: the loop does not get the event.
    @discardableResult
    package func post(_ event: Event) -> Bool {
        if case .terminated = inlet.yield(event) { return false }
        return true
    }

    /// Posts a request and waits for its answer.
    ///
    /// - Parameters:
    ///   - closed: the answer if the mailbox has ended.
    ///   - request: makes the event; the loop resumes the continuation with the answer, in any case.
    package func ask<Answer: Sendable>(
        ifClosed closed: Answer, _ request: (CheckedContinuation<Answer, Never>) -> Event
    ) async -> Answer {
        await withCheckedContinuation { continuation in
            if !post(request(continuation)) { continuation.resume(returning: closed) }
        }
    }

    /// Refuses further events; those that wait can still be taken.
    package func close() { inlet.finish() }
}

extension Mailbox: AsyncSequence {
    /// Takes events until the mailbox ends. A loop that has left can take the rest with another iterator.
    package func makeAsyncIterator() -> AsyncStream<Event>.Iterator { events.makeAsyncIterator() }
}
