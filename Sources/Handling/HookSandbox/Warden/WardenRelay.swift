import CLinuxShims
import Glibc

/// The process that the caller waits for if a hook has no rules. Processes that the hook leaves behind keep running
/// with their warden, so the warden's own end cannot tell how the hook ended. The warden stays above them, so that
/// every program can see that a handler started them.
enum WardenRelay {
    /// Makes this process the relay, and continues in a new process as the warden.
    ///
    /// - Parameter hasStream: as in `HookProcess.letGoOfCaller`.
    /// - Returns: in the warden, the descriptor to which it writes the hook's status.
    static func fork(hasStream: Bool) throws(SandboxError) -> Int32 {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw .notRestricted("no pipe: \(SandboxError.lastCause)") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let warden = CLinuxShims_fork()
        guard warden >= 0 else { throw .notRestricted("no process: \(SandboxError.lastCause)") }
        if warden == 0 {
            close(ends[0])
            setpgid(0, 0)
            return ends[1]
        }
        close(ends[1])
        relay(warden, ends[0], hasStream: hasStream)
    }

    private static func relay(_ warden: pid_t, _ reports: Int32, hasStream: Bool) -> Never {
        let signals = CLinuxShims_signalfd()
        HookProcess.letGoOfCaller(hasStream: hasStream)
        while true {
            var watched = [signals, reports].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            _ = poll(&watched, nfds_t(watched.count), -1)
            while true {
                let signal = CLinuxShims_signalfd_next(signals)
                if signal == 0 { break }
                if [SIGTERM, SIGINT, SIGHUP, SIGQUIT].contains(signal) { kill(warden, signal) }
            }
            guard watched[1].revents != 0 else { continue }
            var status: Int32 = 0
            if read(reports, &status, MemoryLayout<Int32>.size) != MemoryLayout<Int32>.size {
                // The warden started no hook, and has reported why.
                while waitpid(warden, &status, 0) < 0, errno == EINTR {}
            }
            HookProcess.end(as: status)
        }
    }
}
