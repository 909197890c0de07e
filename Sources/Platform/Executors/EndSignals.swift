import CLinuxShims
import Glibc
import Synchronization

/// Signals as a stream: SIGINT and SIGTERM, if no others are named.
///
/// Not the `UnixSignals` of swift-service-lifecycle: on Linux a signal that had one of its sequences has no effect once the
/// sequence is gone, so Ctrl-C could not end a command that no longer waits for it. A sequence also catches signals
/// that the program's starter ignores, as `nohup` does.
package enum EndSignals {
    private struct Watcher {
        var signals: Set<Int32>
        var continuation: AsyncStream<Int32>.Continuation
    }

    private struct State {
        var watchers: [Int: Watcher] = [:]
        var number = 0
        /// The descriptor to which the signal handler writes; nil until the first watcher.
        var writing: Int32?
    }

    private static let state = Mutex(State())
    private static let come = Atomic(false)
    /// Whether SIGINT or SIGTERM has come.
    package static var haveCome: Bool { come.load(ordering: .relaxed) }
    package static let ending: Set<Int32> = [SIGINT, SIGTERM]

    /// Each of these signals from now on. Once a signal has no watcher left, it ends the process again.
    package static func watched(_ signals: Set<Int32> = ending) -> AsyncStream<Int32> {
        AsyncStream { continuation in
            state.withLock { state in
                if state.writing == nil { state.writing = begin() }
                // If no descriptor or thread is available, signals end the process, as without a watcher.
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
        let isRead = BackgroundThread.start("waft-signals") {
            while true {
                var number: UInt8 = 0
                guard read(reading, &number, 1) == 1 else { continue }
                let signal = Int32(number)
                if ending.contains(signal) { come.store(true, ordering: .relaxed) }
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
