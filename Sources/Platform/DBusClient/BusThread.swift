import Executors
import Glibc
import Synchronization

/// A state machine that talks to a bus. One `BusThread` runs it, and calls it from that thread only.
package protocol BusPart: AnyObject, SendableMetatype {
    /// The connection to poll, if there is one.
    var connection: BusConnection? { get }
    /// Another descriptor to poll for reading; negative for none.
    var watchDescriptor: Int32 { get }
    /// When to call `advance` even without an event.
    var deadline: ContinuousClock.Instant? { get }
    /// Whether nothing is left to send after `leave`.
    var hasLeft: Bool { get }

    /// Called when the watch is readable.
    func watchIsReadable()
    /// Handles everything that is due now.
    func advance()
    /// Called once when the thread shall stop; it runs until `hasLeft`, or until `BusThread.grace` is over.
    func leave()
    /// Called once, at the end.
    func end()
}

/// The thread of one `BusPart`. It sleeps until there is work.
///
/// The first job starts it. It keeps this object alive until it is stopped.
package final class BusThread<Part: BusPart>: Sendable {
    /// Work for the thread.
    package typealias Job = @Sendable (Part) -> Void

    /// How long the part may take to leave. A type property of a generic type cannot be stored.
    private static var grace: Duration { .seconds(1) }

    private struct State {
        var jobs: [Job] = []
        var isStopped = false
        var isRunning = false
        var hasEnded = false
        var whenEnded: [@Sendable () -> Void] = []
    }

    private let name: String
    private let make: @Sendable () -> Part
    private let state = Mutex(State())
    /// Owned pipe that wakes the thread: reading and writing end. Negative if no descriptor was free.
    private let wakeEnd: Int32
    private let wakingEnd: Int32

    /// - Parameters:
    ///   - name: of the thread, at most 15 bytes.
    ///   - make: called on the thread.
    package init(name: String, _ make: @escaping @Sendable () -> Part) {
        self.name = name
        self.make = make
        var ends: [Int32] = [-1, -1]
        if pipe(&ends) != 0 { ends = [-1, -1] }
        for end in ends where end >= 0 {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        wakeEnd = ends[0]
        wakingEnd = ends[1]
    }

    deinit {
        if wakeEnd >= 0 { close(wakeEnd) }
        if wakingEnd >= 0 { close(wakingEnd) }
    }

    /// - Returns: false if the job never runs: the thread was stopped, or none could be started.
    @discardableResult
    package func perform(_ job: @escaping Job) -> Bool {
        let (isTaken, isFirst) = state.withLock { state in
            guard !state.isStopped else { return (false, false) }
            state.jobs.append(job)
            defer { state.isRunning = true }
            return (true, !state.isRunning)
        }
        guard isTaken else { return false }
        if isFirst, !BackgroundThread.start(name, { self.run() }) {
            end()
            return false
        }
        wake()
        return true
    }

    /// Lets the part leave, and ends the thread.
    /// - Parameter then: called when the thread has ended, on that thread or immediately.
    package func stop(_ then: (@Sendable () -> Void)? = nil) {
        let isOver = state.withLock { state in
            state.isStopped = true
            if !state.isRunning || state.hasEnded { return true }
            if let then { state.whenEnded.append(then) }
            return false
        }
        if isOver { then?() } else { wake() }
    }

    private func wake() {
        var byte: UInt8 = 0
        // If the pipe is full, the thread wakes anyway.
        _ = write(wakingEnd, &byte, 1)
    }

    private func end() {
        let waiting = state.withLock { state in
            state.isStopped = true
            state.hasEnded = true
            state.jobs = []
            defer { state.whenEnded = [] }
            return state.whenEnded
        }
        for tell in waiting { tell() }
    }

    private func run() {
        do {
            let part = make()
            var leaveBy: ContinuousClock.Instant?
            while true {
                let (jobs, isStopped) = state.withLock { state in
                    defer { state.jobs = [] }
                    return (state.jobs, state.isStopped)
                }
                for job in jobs { job(part) }
                if isStopped, leaveBy == nil {
                    leaveBy = .now + Self.grace
                    part.leave()
                }
                part.advance()
                if let leaveBy, part.hasLeft || leaveBy <= .now { break }
                poll(part, until: leaveBy)
            }
            part.end()
        }
        end()
    }

    /// Waits for the bus, the part's watch, a job or the deadline.
    private func poll(_ part: Part, until limit: ContinuousClock.Instant?) {
        var waits = [
            pollfd(fd: wakeEnd, events: Int16(POLLIN), revents: 0),
            pollfd(fd: part.watchDescriptor, events: Int16(POLLIN), revents: 0),
        ]
        let own = waits.count
        waits += part.connection?.polled ?? []
        var time: Int32 = -1
        if let deadline = [part.deadline, limit].compactMap(\.self).min() {
            time = Int32(clamping: max(0, (deadline - .now).wholeMilliseconds))
        }
        // Without a pipe the thread checks for jobs every 200 ms.
        if wakeEnd < 0 { time = time < 0 ? 200 : min(time, 200) }
        guard Glibc.poll(&waits, nfds_t(waits.count), time) > 0 else { return }
        if waits[0].revents != 0 {
            withUnsafeTemporaryAllocation(byteCount: 256, alignment: 1) { buffer in
                while read(wakeEnd, buffer.baseAddress, buffer.count) == buffer.count {}
            }
        }
        if waits[1].revents != 0 { part.watchIsReadable() }
        part.connection?.handle(waits[own...])
    }
}
