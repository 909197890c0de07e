import NIOCore
import Synchronization
import WebPages

/// A window that is open. The lines of all its calls come by one stream: a browser keeps six connections to a server at
/// most, and calls that last would soon have all of them.
final class DeskWindow: Sendable {
    /// Calls of one window at the same time.
    static let maximum = 128

    let name = WebSecret.make()
    private let send: @Sendable (ByteBuffer) async throws -> Void
    private let calls = Mutex<[String: Task<Void, Never>]>([:])

    init(_ send: @escaping @Sendable (ByteBuffer) async throws -> Void) { self.send = send }

    /// Begins a call.
    /// - Parameters:
    ///   - call: the window's own name for it: letters and digits.
    ///   - work: makes the lines of the call, each in one piece.
    /// - Returns: false if there are too many, or there is one of this name.
    func begin(_ call: String, _ work: @escaping @Sendable (DeskLines) async -> Void) -> Bool {
        let head = "{\"call\":\"\(call)\",\"line\":"
        let lines = DeskLines { [send] line in
            var tagged = ByteBuffer(string: head)
            tagged.writeImmutableBuffer(line.getSlice(at: line.readerIndex, length: line.readableBytes - 1) ?? line)
            tagged.writeString("}\n")
            try await send(tagged)
        }
        return calls.withLock { calls in
            guard calls.count < Self.maximum, calls[call] == nil else { return false }
            calls[call] = Task {
                await work(lines)
                self.calls.withLock { _ = $0.removeValue(forKey: call) }
            }
            return true
        }
    }

    /// - Returns: false if there is no such call.
    func cancel(_ call: String) -> Bool {
        guard let task = calls.withLock({ $0[call] }) else { return false }
        task.cancel()
        return true
    }

    /// The stream has ended: all its calls are cancelled.
    func close() {
        for task in calls.withLock({ Array($0.values) }) { task.cancel() }
    }
}
