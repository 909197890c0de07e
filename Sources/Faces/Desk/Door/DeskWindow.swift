import NIOCore
import Operations
import Synchronization
import WebPages

/// A window that is open. The lines of all its calls come by one stream: a browser keeps six connections to a server at
/// most, and calls that last would soon have all of them.
final class DeskWindow: Sendable {
    /// Calls of one window at the same time.
    static let maximum = 128

    let name = WebSecret.make()
    /// In the path of its previews.
    let previews: String
    private let send: @Sendable (ByteBuffer) async throws -> Void
    /// Nil once the stream has ended.
    private let calls = Mutex<[String: Task<Void, Never>]?>([:])

    init(previews: String, _ send: @escaping @Sendable (ByteBuffer) async throws -> Void) {
        (self.previews, self.send) = (previews, send)
    }

    /// Begins a call.
    /// - Parameters:
    ///   - call: the window's own name for it: letters and digits.
    ///   - work: makes the lines of the call.
    /// - Returns: false if there are too many, there is one of this name, or the window has closed.
    func begin(_ call: String, _ work: @escaping @Sendable (DeskLines) async -> Void) -> Bool {
        let lines = DeskLines(of: call, send)
        return calls.withLock { calls in
            guard let open = calls, open.count < Self.maximum, open[call] == nil else { return false }
            calls?[call] = Task(executorPreference: Waft.executor) {
                await work(lines)
                self.calls.withLock { _ = $0?.removeValue(forKey: call) }
            }
            return true
        }
    }

    /// - Returns: false if there is no such call.
    func cancel(_ call: String) -> Bool {
        guard let task = calls.withLock({ $0?[call] }) else { return false }
        task.cancel()
        return true
    }

    /// The stream has ended: all its calls are cancelled.
    func close() {
        let left = calls.withLock { calls in
            defer { calls = nil }
            return calls ?? [:]
        }
        for task in left.values { task.cancel() }
    }
}
