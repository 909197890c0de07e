import CLinuxShims
import Glibc

/// The parent of a hook. It outlives the hook, passes on how the hook ended, and ends the hook's other processes.
///
/// SIGTERM asks the hook's processes to leave. SIGQUIT, or the end of the process that asked for the hook, ends them at
/// once. The warden has one thread, and no other part of Waft runs in it.
struct Warden: ~Copyable {
    /// The processes that belong to the call.
    enum Charge {
        /// All descendants of the warden, which ends with the hook.
        case descendants
        /// The hook's process group. Processes that the hook leaves behind keep running, and so does the warden.
        case group
    }

    /// Number of rounds of killing without a pause in between, so that no process can fork meanwhile.
    private static let hastyLooks = 10_000
    /// Pause between later rounds, in microseconds: a process in a call of a dead disk may never end.
    private static let endingPause: UInt32 = 10_000
    /// Interval of checks of a group that was asked to leave, in milliseconds: the kernel does not report its end.
    private static let settlingPause: Int32 = 20

    private let hook: pid_t
    private let charge: Charge
    /// Readable once the process that asked for the hook has ended; -1 after that, or if the kernel has no pidfds.
    private var client: Int32
    /// Receives the hook's calls that change attributes; -1 for none.
    private let listener: Int32
    private let attributes: AttributeWarden
    private let signals: Int32

    /// The status of the ended hook, as in waitpid(2).
    private var status: Int32?
    private var isAskedToLeave = false
    private var hasReported = false

    /// - Parameters:
    ///   - hook: a child of this process, and the leader of a process group.
    ///   - client, listener: stay open as long as this process lives.
    init(hook: pid_t, charge: Charge, client: Int32, listener: Int32, attributes: consuming AttributeWarden) {
        self.hook = hook
        self.charge = charge
        self.client = client
        self.listener = listener
        self.attributes = attributes
        signals = CLinuxShims_signalfd()
    }

    /// Returns when no child is left.
    ///
    /// - Parameter report: gets the hook's status, as in waitpid(2), when the call is over.
    mutating func run(report: (Int32) -> Void) {
        while true {
            let hasChildren = reap()
            if let status, !hasReported, isOver(hasChildren) {
                if charge == .descendants { endAll() }
                hasReported = true
                report(status)
            }
            guard hasChildren else { return }
            wait()
        }
    }

    private func isOver(_ hasChildren: Bool) -> Bool {
        // Processes that were asked to leave get time to do so, even after the hook itself has ended.
        guard isAskedToLeave else { return true }
        switch charge {
        case .descendants: return !hasChildren
        case .group: return kill(-hook, 0) != 0 && errno == ESRCH
        }
    }

    /// - Returns: whether a child is left.
    private mutating func reap() -> Bool {
        let hook = hook
        var ended: Int32?
        let hasChildren = ProcessTree.reap { if $0 == hook { ended = $1 } }
        if let ended { status = ended }
        return hasChildren
    }

    private mutating func wait() {
        var watched = [signals, client, listener].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let isSettling = status != nil && !hasReported
        _ = poll(&watched, nfds_t(watched.count), isSettling ? Self.settlingPause : -1)
        while true {
            let signal = CLinuxShims_signalfd_next(signals)
            if signal == 0 { break }
            take(signal)
        }
        if watched[1].revents != 0 {
            client = -1
            endAll()
        }
        if watched[2].revents & Int16(POLLIN) != 0 { answer() }
    }

    private mutating func take(_ signal: Int32) {
        // After the call, the remaining processes get no more signals.
        guard !hasReported else { return }
        switch signal {
        case SIGTERM, SIGINT, SIGHUP:
            isAskedToLeave = true
            switch charge {
            case .descendants: ProcessTree.signal(SIGTERM)
            case .group: kill(-hook, SIGTERM)
            }
        case SIGQUIT: endAll()
        default: break
        }
    }

    /// Ends the processes that belong to the call. All descendants have ended when it returns.
    private mutating func endAll() {
        switch charge {
        case .group: if !hasReported { kill(-hook, SIGKILL) }
        case .descendants:
            var looks = 0
            while reap() {
                ProcessTree.killChildren()
                looks += 1
                if looks < Self.hastyLooks { sched_yield() } else { usleep(Self.endingPause) }
            }
        }
    }

    /// Answers one call that changes attributes.
    private func answer() {
        var call = CLinuxShims_asked_call()
        guard CLinuxShims_seccomp_receive(listener, &call) == 0 else { return }
        let (listener, identifier, arguments) = (listener, call.identifier, call.arguments)
        var failure = EPERM
        if call.thread > 0, let name = SystemCallFilter.attributeCallNames[call.number],
            let change = AttributeCall(
                name, [arguments.0, arguments.1, arguments.2, arguments.3, arguments.4, arguments.5])
        {
            do throws(CallError) {
                try attributes.carryOut(change, thread: call.thread) {
                    CLinuxShims_seccomp_is_waiting(listener, identifier) != 0
                }
                failure = 0
            } catch { failure = error.number }
        }
        _ = CLinuxShims_seccomp_answer(listener, identifier, failure)
    }
}
