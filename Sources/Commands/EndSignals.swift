import CLinuxShims
import Executors
import Glibc
import Synchronization

/// SIGINT and SIGTERM as something that can be waited for.
enum EndSignals {
    private struct State {
        var watchers: [Int: AsyncStream<Int32>.Continuation] = [:]
        var number = 0
        /// Where the system's handler writes; nil before somebody watches.
        var writing: Int32?
    }

    private static let state = Mutex(State())
    private static let signals = [SIGINT, SIGTERM]

    /// Each signal that comes from now on. When nobody watches any more, they end the process again.
    static func watched() -> AsyncStream<Int32> {
        AsyncStream { continuation in
            state.withLock { state in
                if state.writing == nil { state.writing = begin() }
                // Without descriptors or a thread to be had they end the process, as they do when nobody watches.
                guard let writing = state.writing else { return }
                state.number += 1
                let number = state.number
                state.watchers[number] = continuation
                for signal in signals { _ = CLinuxShims_signal_to(signal, writing) }
                continuation.onTermination = { _ in forget(number) }
            }
        }
    }

    private static func forget(_ number: Int) {
        state.withLock { state in
            state.watchers[number] = nil
            guard state.watchers.isEmpty else { return }
            for signal in signals { _ = CLinuxShims_signal_to(signal, -1) }
        }
    }

    /// The pipe and the thread that reads it: one of each for the life of the process.
    /// - Returns: the pipe's writing end.
    private static func begin() -> Int32? {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        // The handler never waits.
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        let (reading, writing) = (ends[0], ends[1])
        let isRead = BackgroundThread.start {
            while true {
                var number: UInt8 = 0
                guard read(reading, &number, 1) == 1 else { continue }
                let watchers = state.withLock { $0.watchers.values.map { $0 } }
                for watcher in watchers { watcher.yield(Int32(number)) }
            }
        }
        guard isRead else {
            for end in ends { close(end) }
            return nil
        }
        return writing
    }
}
