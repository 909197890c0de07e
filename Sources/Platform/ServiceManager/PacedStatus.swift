/// Shows a line that changes often: at most one in each interval, and the last one in any case.
package struct PacedStatus: Sendable {
    private let interval: Duration
    private let changes: AsyncStream<Void>
    private let inlet: AsyncStream<Void>.Continuation

    package init(every interval: Duration = .seconds(1)) {
        self.interval = interval
        (changes, inlet) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// The line may have changed. Returns at once; call it from any thread.
    package func changed() { inlet.yield() }

    /// Shows changed lines until the task is cancelled. Call it once.
    ///
    /// - Parameters:
    ///   - text: makes the line as it is now; nil while there is none.
    ///   - show: called for a line that differs from the one before.
    package func run(text: @Sendable () -> String?, show: @Sendable (String) -> Void) async {
        var last: String?
        for await _ in changes {
            guard let line = text(), line != last else { continue }
            last = line
            show(line)
            try? await Task.sleep(for: interval)
        }
    }
}
