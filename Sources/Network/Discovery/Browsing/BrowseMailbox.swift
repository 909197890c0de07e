internal import Synchronization

/// Events on their way to the one consumer of a browse. At most one waits for each instance, so that a busy link cannot
/// fill the memory of a slow consumer.
final class BrowseMailbox: Sendable {
    fileprivate enum Slot: Hashable {
        case instance(String)
        case allForNow
        case failure
    }

    fileprivate struct State {
        /// In the order of delivery; `events` has one event for each slot.
        var order: [Slot] = []
        var events: [Slot: BrowseEvent] = [:]
        /// Instances that the consumer believes to exist.
        var told: Set<String> = []
        var consumer: CheckedContinuation<BrowseEvent?, Never>?
        var isFinished = false
    }

    private let state = Mutex(State())

    /// A stream that calls `onEnd` (once or twice) when it is dropped or its consumer's task is cancelled.
    static func open(
        onEnd: @escaping @Sendable (BrowseMailbox) -> Void
    ) -> (AsyncStream<BrowseEvent>, BrowseMailbox) {
        let mailbox = BrowseMailbox()
        let ticket = BrowseTicket(mailbox: mailbox, onEnd: onEnd)
        let stream = AsyncStream {
            await ticket.mailbox.next()
        } onCancel: {
            mailbox.finish()
            onEnd(mailbox)
        }
        return (stream, mailbox)
    }

    var isFinished: Bool { state.withLock { $0.isFinished } }

    func post(_ event: BrowseEvent) {
        let ready = state.withLock { state -> (CheckedContinuation<BrowseEvent?, Never>, BrowseEvent)? in
            guard !state.isFinished else { return nil }
            state.put(event)
            guard let consumer = state.consumer, let next = state.take() else { return nil }
            state.consumer = nil
            return (consumer, next)
        }
        if let (consumer, event) = ready { consumer.resume(returning: event) }
    }

    /// Ends the stream and drops waiting events.
    func finish() {
        let consumer = state.withLock { state in
            let consumer = state.consumer
            state = State()
            state.isFinished = true
            return consumer
        }
        consumer?.resume(returning: nil)
    }

    private func next() async -> BrowseEvent? {
        await withCheckedContinuation { continuation in
            // A second simultaneous consumer replaces the first, whose stream ends.
            let (other, answer): (CheckedContinuation<BrowseEvent?, Never>?, BrowseEvent??) = state.withLock { state in
                if state.isFinished { return (nil, .some(nil)) }
                if let event = state.take() { return (nil, .some(event)) }
                let other = state.consumer
                state.consumer = continuation
                return (other, nil)
            }
            other?.resume(returning: nil)
            if let answer { continuation.resume(returning: answer) }
        }
    }
}

extension BrowseMailbox.State {
    fileprivate mutating func put(_ event: BrowseEvent) {
        switch event {
        case .updated(let service): replace(.instance(service.instance), by: event)
        case .removed(let instance):
            if told.contains(instance) {
                replace(.instance(instance), by: event)
            } else {
                drop(.instance(instance))
            }
        // These two refer to the events before them: they go to the end of the line.
        case .allForNow:
            drop(.allForNow)
            replace(.allForNow, by: event)
        case .failed:
            drop(.failure)
            replace(.failure, by: event)
        }
    }

    private mutating func replace(_ slot: BrowseMailbox.Slot, by event: BrowseEvent) {
        if events.updateValue(event, forKey: slot) == nil { order.append(slot) }
    }

    private mutating func drop(_ slot: BrowseMailbox.Slot) {
        if events.removeValue(forKey: slot) != nil { order.removeAll { $0 == slot } }
    }

    fileprivate mutating func take() -> BrowseEvent? {
        guard !order.isEmpty, let event = events.removeValue(forKey: order.removeFirst()) else { return nil }
        switch event {
        case .updated(let service): told.insert(service.instance)
        case .removed(let instance): told.remove(instance)
        case .allForNow, .failed: break
        }
        return event
    }
}

/// Held by the stream alone, and released with it.
private final class BrowseTicket: Sendable {
    let mailbox: BrowseMailbox
    private let onEnd: @Sendable (BrowseMailbox) -> Void

    init(mailbox: BrowseMailbox, onEnd: @escaping @Sendable (BrowseMailbox) -> Void) {
        self.mailbox = mailbox
        self.onEnd = onEnd
    }

    deinit {
        mailbox.finish()
        onEnd(mailbox)
    }
}
