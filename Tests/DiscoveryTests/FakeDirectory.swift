import Synchronization

@testable import Discovery

/// A directory that only records its calls, and reports the events that a test wants.
final class FakeDirectory: ObservableDirectory {
    struct State {
        var isAvailable: Bool?
        var published: [String] = []
        var events: [String] = []
        var refusal: DiscoveryError?
        var browsers: [BrowseMailbox] = []
        var observers: [AsyncStream<Bool>.Continuation] = []
    }

    let state: Mutex<State>
    private let changes = AsyncStream.makeStream(of: Void.self)

    init(isAvailable: Bool? = true) {
        state = Mutex(State(isAvailable: isAvailable))
    }

    private func change<Result: Sendable>(_ body: (inout State) throws -> Result) rethrows -> Result {
        defer { changes.continuation.yield() }
        return try state.withLock { try body(&$0) }
    }

    /// Waits for a condition; conditions can change only through this object.
    func wait(until condition: (borrowing State) -> Bool) async {
        if state.withLock({ condition($0) }) { return }
        for await _ in changes.stream where state.withLock({ condition($0) }) { return }
    }

    func publish(_ service: ServiceDescription) async throws -> any Publication {
        try change { state in
            if let refusal = state.refusal { throw refusal }
            state.published.append(service.instance)
            state.events.append("publish \(service.instance)")
        }
        return FakePublication(directory: self, instance: service.instance)
    }

    func withdraw(_ instance: String) {
        change { state in
            state.published.removeAll { $0 == instance }
            state.events.append("withdraw \(instance)")
        }
    }

    func deny(_ interfaces: InterfacePatterns) {
        change { $0.events.append("deny \(interfaces.patterns.joined(separator: " "))") }
    }

    func browse(type: String) -> AsyncStream<BrowseEvent> {
        let (stream, mailbox) = BrowseMailbox.open { mailbox in
            self.change { $0.browsers.removeAll { $0 === mailbox } }
        }
        change { $0.browsers.append(mailbox) }
        return stream
    }

    func availability() -> AsyncStream<Bool> {
        let (stream, continuation) = AsyncStream.makeStream(of: Bool.self)
        change { state in
            state.observers.append(continuation)
            if let isAvailable = state.isAvailable { continuation.yield(isAvailable) }
        }
        return stream
    }

    func say(_ event: BrowseEvent) {
        state.withLock { $0.browsers }.forEach { $0.post(event) }
    }

    func become(available: Bool) {
        change { state in
            state.isAvailable = available
            state.observers.forEach { $0.yield(available) }
        }
    }

    func refuse(_ error: DiscoveryError?) {
        change { $0.refusal = error }
    }
}

private final class FakePublication: Publication {
    let directory: FakeDirectory
    let name: String

    init(directory: FakeDirectory, instance: String) {
        self.directory = directory
        name = instance
    }

    var instance: String { get async { name } }

    func withdraw() async { directory.withdraw(name) }
}

/// Sleeps that the test ends.
final class ManualSleep: Sendable {
    private struct State {
        var sleepers: [(Duration, CheckedContinuation<Void, any Error>)] = []
        var durations: [Duration] = []
    }

    private let state = Mutex(State())
    private let started = AsyncStream.makeStream(of: Void.self)

    var sleep: AutomaticDirectory.Sleep {
        { duration in
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    self.state.withLock { $0.sleepers.append((duration, continuation)) }
                    self.started.continuation.yield()
                    if Task.isCancelled { self.wake(duration, with: .failure(CancellationError())) }
                }
            } onCancel: {
                self.wake(duration, with: .failure(CancellationError()))
            }
        }
    }

    /// Waits until a task sleeps for that duration.
    func untilSleeping(_ duration: Duration) async {
        while !state.withLock({ $0.sleepers.contains { $0.0 == duration } }) {
            for await _ in started.stream { break }
        }
    }

    /// Waits until no task sleeps for that duration.
    func untilNobodySleeps(_ duration: Duration) async {
        while state.withLock({ $0.sleepers.contains { $0.0 == duration } }) { await Task.yield() }
    }

    func wake(_ duration: Duration, with result: Result<Void, any Error> = .success(())) {
        let woken = state.withLock { state in
            let woken = state.sleepers.filter { $0.0 == duration }
            state.sleepers.removeAll { $0.0 == duration }
            return woken
        }
        woken.forEach { $0.1.resume(with: result) }
    }
}
