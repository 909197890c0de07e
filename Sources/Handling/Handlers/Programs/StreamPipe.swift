import CLinuxShims
import Executors
import Glibc
import Synchronization
import SystemPackage

/// The pipe through which a program reads a stream.
///
/// The program reaches the end of the file only after it could read all contents: otherwise the writing end stays open
/// until the program has ended.
final class StreamPipe: Sendable {
    /// Why no more is written.
    private enum Ending {
        case whole
        /// The program has ended.
        case stopped
        case failed(ClearCopyError)
    }

    private struct State {
        var ending: Ending?
        var isRunning = false
        var failed: (@Sendable () -> Void)?
        var waiting: [CheckedContinuation<Void, Never>] = []
        var isWritingOpen = true
    }

    private let stream: ClearStream
    /// Owned, all. The reading end stays open too, so that a program that exits causes no SIGPIPE here: its process
    /// reports its end.
    private let reading: Int32
    private let writing: Int32
    /// Readable once there is an ending.
    private let bell: Int32
    private let state = Mutex(State())

    /// - Throws: `Errno`.
    init(_ stream: ClearStream) throws {
        var ends: [Int32] = [-1, -1]
        guard CLinuxShims_pipe(&ends) == 0 else { throw Errno(rawValue: errno) }
        bell = CLinuxShims_eventfd()
        guard bell >= 0 else {
            let cause = Errno(rawValue: errno)
            for end in ends { Glibc.close(end) }
            throw cause
        }
        (reading, writing) = (ends[0], ends[1])
        // This end alone: the program's end blocks, as programs expect.
        _ = fcntl(writing, F_SETFL, O_NONBLOCK)
        self.stream = stream
    }

    deinit {
        for end in [reading, bell] { Glibc.close(end) }
        if state.withLock({ $0.isWritingOpen }) { Glibc.close(writing) }
    }

    /// The program's end; valid as long as this object is referenced.
    var output: Int32 { reading }

    /// Why the program did not get all contents; nil if that was its own choice, and while it gets them.
    var failure: ClearCopyError? {
        state.withLock { state in
            if case .failed(let error) = state.ending { error } else { nil }
        }
    }

    /// Writes the contents, on a thread of its own.
    ///
    /// - Parameter failed: called once if they cannot all be written, but not after `stop`. The program must be ended.
    func begin(failed: @escaping @Sendable () -> Void) {
        state.withLock { ($0.isRunning, $0.failed) = (true, failed) }
        stream.whenLocked { [weak self] in self?.end(.failed(.locked)) }
        let isStarted = BackgroundThread.start("waft-stream") { [self] in
            do throws(ClearCopyError) {
                try stream.pass { write($0) }
                end(.whole)
            } catch {
                end(.failed(error))
            }
            leave()
        }
        if !isStarted {
            end(.failed(.later("no thread could be started")))
            leave()
        }
    }

    /// Writes no more. Returns when the thread has ended. Call it when the program has ended.
    func stop() async {
        end(.stopped)
        await withCheckedContinuation { waiter in
            let isRunning = state.withLock { state in
                if state.isRunning { state.waiting.append(waiter) }
                return state.isRunning
            }
            if !isRunning { waiter.resume() }
        }
        closeWriting()
    }

    /// The first ending counts.
    private func end(_ ending: Ending) {
        let (isFirst, failed) = state.withLock { state in
            defer { state.failed = nil }
            guard state.ending == nil else { return (false, state.failed) }
            state.ending = ending
            return (true, state.failed)
        }
        guard isFirst else { return }
        var one: UInt64 = 1
        _ = Glibc.write(bell, &one, MemoryLayout<UInt64>.size)
        switch ending {
        case .whole: closeWriting()
        case .stopped: break
        case .failed: failed?()
        }
    }

    private func leave() {
        let waiting = state.withLock { state in
            state.isRunning = false
            defer { state.waiting = [] }
            return state.waiting
        }
        for waiter in waiting { waiter.resume() }
    }

    /// Only when nothing is written any more.
    private func closeWriting() {
        let isOpen = state.withLock { state in
            defer { state.isWritingOpen = false }
            return state.isWritingOpen
        }
        if isOpen { Glibc.close(writing) }
    }

    /// - Returns: false if there is an ending.
    private func write(_ contents: UnsafeRawBufferPointer) -> Bool {
        var rest = contents
        while state.withLock({ $0.ending == nil }) {
            if rest.isEmpty { return true }
            let count = Glibc.write(writing, rest.baseAddress, rest.count)
            if count >= 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            } else if errno == EAGAIN {
                var waits = [writing, bell].map { pollfd(fd: $0, events: 0, revents: 0) }
                waits[0].events = Int16(POLLOUT)
                waits[1].events = Int16(POLLIN)
                _ = poll(&waits, 2, -1)
            } else if errno != EINTR {
                end(.failed(.later("its stream cannot be written: \(Errno(rawValue: errno))")))
            }
        }
        return false
    }
}
