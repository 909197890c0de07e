import Dispatch
import Foundation
import NIOCore
private import Synchronization

/// Joins a giver that awaits bytes (the connection) to a consumer that blocks for them in a callback (the archive
/// library): a coroutine on its own thread. Only one of the two runs at a time, without a queue. After each piece the
/// giver knows whether the consumer wants more, so it never waits for a sender that has finished.
final class BodyPull: Sendable {
    enum Demand: Sendable {
        case more
        /// The work has ended and takes no more bytes.
        case finished
    }

    private struct State {
        var giver: CheckedContinuation<Demand, Never>?
        var piece: ByteBuffer?
        var hasEnded = false
    }

    private let state = Mutex(State())
    /// The thread waits on it; each piece signals it once.
    private let given = DispatchSemaphore(value: 0)

    /// Bytes of the thread's stack; the work does not need the default size.
    private static let stackBytes = 1 << 20

    // MARK: The giver

    /// Starts the work on its thread. The caller must answer each `more` with `give`, until `finished`.
    func start(_ work: @escaping @Sendable () -> Void) async -> Demand {
        await withCheckedContinuation { continuation in
            state.withLock { $0.giver = continuation }
            let thread = Thread {
                work()
                self.end()
            }
            thread.stackSize = Self.stackBytes
            thread.start()
        }
    }

    /// - Parameter piece: nil for the end of the bytes.
    func give(_ piece: ByteBuffer?) async -> Demand {
        await withCheckedContinuation { continuation in
            let hasEnded = state.withLock { state in
                if state.hasEnded { return true }
                state.giver = continuation
                state.piece = piece
                return false
            }
            if hasEnded { return continuation.resume(returning: .finished) }
            given.signal()
        }
    }

    // MARK: The work

    /// The next piece, nil at the end of the bytes. Blocks the work's thread.
    func take() -> ByteBuffer? {
        let giver = state.withLock { state in
            defer { state.giver = nil }
            return state.giver
        }
        giver?.resume(returning: .more)
        given.wait()
        return state.withLock { state in
            defer { state.piece = nil }
            return state.piece
        }
    }

    private func end() {
        let giver = state.withLock { state in
            state.hasEnded = true
            defer { state.giver = nil }
            return state.giver
        }
        giver?.resume(returning: .finished)
    }
}
