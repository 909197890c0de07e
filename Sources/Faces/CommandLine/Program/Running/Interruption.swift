import Executors
import Glibc
import Sharing

/// Lets a task wait for Ctrl-C and for a request to end.
enum Interruption {
    /// Runs `operation`. At SIGINT or SIGTERM, `cancellation` is requested; a moment later the task is cancelled.
    /// Between the two, `operation` can still take leave of its peer.
    /// - Returns: the result of `operation`, and whether a signal came.
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
