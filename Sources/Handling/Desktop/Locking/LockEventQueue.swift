import Synchronization

/// The events that wait for the one task that handles them. It holds at most one of each kind, so it needs no bound.
final class LockEventQueue: Sendable {
    private let waiting = Mutex<[LockEvent]>([])
    private let bell: AsyncStream<Void>
    private let ringer: AsyncStream<Void>.Continuation

    init() {
        (bell, ringer) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Adds an event. It takes the place of an equal one; a lock or a loss also of the unlocking events that wait.
    func post(_ event: LockEvent) {
        waiting.withLock { waiting in
            waiting.removeAll { $0 == event || event.replaces($0) }
            waiting.append(event)
        }
        ringer.yield()
    }

    /// Waits for the next event.
    ///
    /// - Returns: nil if the task is cancelled.
    func next() async -> LockEvent? {
        var rings = bell.makeAsyncIterator()
        while !Task.isCancelled {
            if let event = waiting.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return event }
            guard await rings.next() != nil else { return nil }
        }
        return nil
    }
}

extension LockEvent {
    /// Whether an older event that waits has become untrue.
    fileprivate func replaces(_ older: LockEvent) -> Bool {
        switch self {
        case .locked: older == .unlockedHint
        case .lost: older == .unlockedHint || older == .back
        case .unlockedHint, .back: false
        }
    }
}
