import CLinuxShims
import Executors
import Glibc
import Synchronization

/// Signals as something that can be waited for: SIGINT and SIGTERM, if no others are named.
enum EndSignals {
    private struct Watcher {
        var signals: Set<Int32>
        var continuation: AsyncStream<Int32>.Continuation
    }

    private struct State {
        var watchers: [Int: Watcher] = [:]
        var number = 0
        /// Where the system's handler writes; nil before somebody watches.
        var writing: Int32?
    }

    private static let state = Mutex(State())
    static let ending: Set<Int32> = [SIGINT, SIGTERM]

    /// Each of these signals that comes from now on. A signal that nobody watches any more ends the process again.
    static func watched(_ signals: Set<Int32> = ending) -> AsyncStream<Int32> {
        AsyncStream { continuation in
            state.withLock { state in
                if state.writing == nil { state.writing = begin() }
                // Without descriptors or a thread to be had they end the process, as they do when nobody watches.
                guard let writing = state.writing else { return }
                state.number += 1
                let number = state.number
                state.watchers[number] = Watcher(signals: signals, continuation: continuation)
                for signal in signals { _ = CLinuxShims_signal_to(signal, writing) }
                continuation.onTermination = { _ in forget(number) }
            }
        }
    }

    private static func forget(_ number: Int) {
        state.withLock { state in
            guard let watcher = state.watchers.removeValue(forKey: number) else { return }
            let watched = state.watchers.values.reduce(into: Set()) { $0.formUnion($1.signals) }
            for signal in watcher.signals.subtracting(watched) { _ = CLinuxShims_signal_to(signal, -1) }
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
                let signal = Int32(number)
                let watchers = state.withLock { $0.watchers.values.filter { $0.signals.contains(signal) } }
                for watcher in watchers { watcher.continuation.yield(signal) }
            }
        }
        guard isRead else {
            for end in ends { close(end) }
            return nil
        }
        return writing
    }
}
