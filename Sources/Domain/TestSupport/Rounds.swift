/// The pauses of something that goes on in rounds. A test ends each of them.
package final class Rounds: Sendable {
    private let pauses = Recorder<Void>()
    private let ends = Recorder<Void>()

    package init() {}

    /// Waits until the test ends this pause, or the task is cancelled.
    package func pause(_: Duration) async {
        pauses.record(())
        _ = try? await ends.element(pauses.count)
    }

    /// Ends a pause, and waits for the next one.
    /// - Throws: `CancellationError`.
    package func next() async throws {
        try await pauses.element(ends.count + 1)
        ends.record(())
        try await pauses.element(ends.count + 1)
    }
}
