import CLinuxShims
import Glibc
import Logging
import Synchronization

/// The thread that talks to the notification server. It sleeps until there is work.
///
/// The first job starts it. It keeps this object alive until it is stopped.
final class NotifierThread: Sendable {
    /// Work for the thread.
    typealias Job = @Sendable (borrowing NotifierDesk) -> Void

    /// How long closing the notifications may take after `stop`.
    fileprivate static let farewell: Duration = .seconds(1)

    private struct State {
        var jobs: [Job] = []
        var isStopped = false
        var isRunning = false
        var hasEnded = false
        var whenEnded: [@Sendable () -> Void] = []
    }

    /// Owned pipe that wakes the thread: reading and writing end. Negative if no descriptor was free.
    fileprivate let wakeEnd: Int32
    private let wakingEnd: Int32
    private let state = Mutex(State())
    private let environment: [String: String]
    private let board: Mutex<NotificationBoard>
    private let patience: Duration
    private let logger: Logger

    init(environment: [String: String], board: NotificationBoard, patience: Duration, logger: Logger) {
        self.environment = environment
        self.board = Mutex(board)
        self.patience = patience
        self.logger = logger
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

    func perform(_ job: @escaping Job) {
        let isFirst = state.withLock { state in
            if state.isStopped { return false }
            state.jobs.append(job)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if isFirst { start() }
        wake()
    }

    /// Closes the notifications and ends the thread.
    /// - Parameter then: called when the thread has ended, on that thread or immediately.
    func stop(_ then: (@Sendable () -> Void)? = nil) {
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

    private func start() {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        defer { pthread_attr_destroy(&attributes) }
        // The new thread blocks all signals: the program's other threads handle them.
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        var thread = pthread_t()
        let code = pthread_create(
            &thread,
            &attributes,
            { argument in
                guard let argument else { return nil }
                Unmanaged<NotifierThread>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            },
            // The thread takes ownership and releases it.
            Unmanaged.passRetained(self).toOpaque()
        )
        guard code != 0 else { return }
        Unmanaged.passUnretained(self).release()
        logger.warning(
            "desktop notifications", metadata: ["state": "no thread can be had: \(String(cString: strerror(code)))"])
        end()
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
        CLinuxShims_pthread_setname("waft-notify")
        do {
            let service = NotificationService(
                environment: environment, board: board.withLock { $0 }, patience: patience, logger: logger)
            let desk = NotifierDesk(service)
            var isLeaving = false
            var deadline: ContinuousClock.Instant?
            while true {
                let (jobs, isStopped) = state.withLock { state in
                    defer { state.jobs = [] }
                    return (state.jobs, state.isStopped)
                }
                for job in jobs { job(desk) }
                if isStopped, !isLeaving {
                    isLeaving = true
                    deadline = .now + Self.farewell
                    desk.closeAll()
                }
                service.advance()
                if isLeaving, desk.isClear || deadline.map({ $0 <= .now }) == true { break }
                poll(service, until: deadline)
            }
            desk.end()
        }
        end()
    }

    /// Waits for the bus, a new socket, a job or the deadline.
    private func poll(_ service: NotificationService, until limit: ContinuousClock.Instant?) {
        var waits = [
            pollfd(fd: wakeEnd, events: Int16(POLLIN), revents: 0),
            pollfd(fd: service.watchDescriptor, events: Int16(POLLIN), revents: 0),
        ]
        let own = waits.count
        waits += service.connection?.polled ?? []
        var time: Int32 = -1
        if let deadline = [service.deadline, limit].compactMap(\.self).min() {
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
        if waits[1].revents != 0 { service.socketWasMade() }
        service.connection?.handle(waits[own...])
    }
}

/// The state that the thread's jobs change.
struct NotifierDesk: ~Copyable {
    private final class Inlets {
        var byNumber: [Int: AsyncStream<NotificationEvent>.Continuation] = [:]
    }

    private let service: NotificationService
    private let inlets = Inlets()

    fileprivate init(_ service: NotificationService) {
        self.service = service
        service.tell = { [inlets] number, event in
            inlets.byNumber[number]?.yield(event)
            guard case .closed = event else { return }
            inlets.byNumber.removeValue(forKey: number)?.finish()
        }
    }

    func show(_ number: Int, _ request: NotificationRequest, _ inlet: AsyncStream<NotificationEvent>.Continuation) {
        inlets.byNumber[number] = inlet
        service.board.show(number, request)
    }

    func update(_ number: Int, _ request: NotificationRequest) {
        service.board.update(number, request)
    }

    func close(_ number: Int) {
        service.carry(service.board.close(number))
    }

    fileprivate func closeAll() {
        service.carry(service.board.closeAll())
    }

    fileprivate var isClear: Bool {
        guard let connection = service.connection else { return true }
        return service.board.isClear && !connection.isSending
    }

    fileprivate func end() {
        for inlet in inlets.byNumber.values { inlet.finish() }
        inlets.byNumber = [:]
    }
}
