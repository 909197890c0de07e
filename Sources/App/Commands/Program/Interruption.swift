import Glibc
import Sharing

/// Ctrl-C and a request to end, as something that can be waited for.
enum Interruption {
    /// Runs `operation`; when SIGINT or SIGTERM comes, `cancellation` is requested, and the task is cancelled a moment
    /// later, so that what is under way can still say goodbye.
    /// - Returns: what `operation` returns, and whether a signal came.
    static func watching<Result: Sendable>(
        _ cancellation: Cancellation,
        goodbye: Duration = .milliseconds(500),
        _ operation: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let signals = EndSignals.watched()
        let work = Task(operation: operation)
        let watch = Task {
            for await signal in signals {
                if signal == SIGINT { Console.shared.endLine() }
                if cancellation.isRequested {
                    work.cancel()
                } else {
                    cancellation.request()
                    try? await Task.sleep(for: goodbye)
                    work.cancel()
                }
            }
        }
        defer { watch.cancel() }
        return try await work.value
    }
}
