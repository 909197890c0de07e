private import Synchronization

/// Says in each interval that the service works, but only after all its parts have answered a question since the last time.
///
/// A part that is blocked gets no further questions until it has answered.
package final class Watchdog: Sendable {
    /// A part of the service that must work.
    package struct Part: Sendable {
        /// For messages.
        package let name: String
        /// Returns when the part has done what it had to do before. May block.
        package let answer: @Sendable () async -> Void

        package init(_ name: String, answer: @escaping @Sendable () async -> Void) {
            (self.name, self.answer) = (name, answer)
        }
    }

    private let interval: Duration
    private let parts: [Part]
    private let executor: (any TaskExecutor)?
    private let pause: @Sendable (Duration) async -> Void
    private let alive: @Sendable () -> Void
    private let silent: @Sendable ([String]) -> Void
    /// The places of the parts that have not answered in this round.
    private let missing = Mutex<Set<Int>>([])

    /// - Parameters:
    ///   - executor: of threads that may block.
    ///   - pause: returns after an interval, or when the task is cancelled.
    ///   - alive: called when all parts have answered; at most once in an interval.
    ///   - silent: called once for each round in which parts did not answer in time, with their names.
    package init(
        every interval: Duration, _ parts: [Part], on executor: (any TaskExecutor)? = nil,
        pause: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) },
        alive: @escaping @Sendable () -> Void, silent: @escaping @Sendable ([String]) -> Void
    ) {
        (self.interval, self.parts, self.executor) = (interval, parts, executor)
        (self.pause, self.alive, self.silent) = (pause, alive, silent)
    }

    /// The names of the parts that have not answered in this round.
    package var unanswered: [String] { missing.withLock { $0.sorted() }.map { parts[$0].name } }

    /// Asks the parts until the task is cancelled. Call it once.
    package func run() async {
        var isReported = false
        while !Task.isCancelled {
            let late = unanswered
            if late.isEmpty {
                isReported = false
                ask()
            } else if !isReported {
                isReported = true
                silent(late)
            }
            await pause(interval)
        }
    }

    private func ask() {
        missing.withLock { $0 = Set(parts.indices) }
        for (place, part) in parts.enumerated() {
            // Not children of this task: a part that never answers must not keep the service from ending.
            Task(executorPreference: executor) { [self] in
                await part.answer()
                if missing.withLock({ $0.remove(place) != nil && $0.isEmpty }) { alive() }
            }
        }
    }
}
