import Synchronization
import WebPages

/// The verbs that run and ask: their windows answer them.
final class DeskCalls: Sendable {
    private let calls = Mutex<[String: AsyncStream<String>.Continuation]>([:])

    /// - Returns: the name of the call, and the input of its verb.
    func begin() -> (name: String, input: AsyncStream<String>) {
        let (input, answers) = AsyncStream<String>.makeStream(bufferingPolicy: .bufferingOldest(16))
        let name = WebSecret.make()
        calls.withLock { $0[name] = answers }
        return (name, input)
    }

    /// - Returns: false if there is no such call.
    func answer(_ name: String, _ text: String) -> Bool {
        calls.withLock { calls in
            guard let call = calls[name] else { return false }
            call.yield(text)
            return true
        }
    }

    func end(_ name: String) { calls.withLock { $0.removeValue(forKey: name) }?.finish() }
}
