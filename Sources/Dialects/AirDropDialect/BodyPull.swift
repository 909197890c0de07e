import Dispatch
import Foundation
import NIOCore
private import Synchronization

/// Joins one who waits for bytes by awaiting (the connection) to one who can only be called back for them (the archive
/// library): a coroutine on a thread of its own. Exactly one of the two runs at a time, and nothing is queued: after each
/// piece the giver knows whether more is wanted, so that it never waits for a sender that has said all it will.
final class BodyPull: Sendable {
    enum Demand: Sendable {
        case more
        /// The work has ended; nothing is taken any more.
        case finished
    }

    private struct State {
        var giver: CheckedContinuation<Demand, Never>?
        var piece: ByteBuffer?
        var hasEnded = false
    }

    private let state = Mutex(State())
    /// What the thread waits on; signalled once for each piece.
    private let given = DispatchSemaphore(value: 0)

    /// Bytes of the thread's stack: as much as any other thread of a program has by default is not needed.
    private static let stackBytes = 1 << 20

    // MARK: The giver

    /// Starts the work on its thread. Until it has finished, each `more` must be answered by `give`.
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

    /// The next piece, nil at the end of the bytes. Called on the work's thread, which waits.
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
