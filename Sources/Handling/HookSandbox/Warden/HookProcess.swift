import CLinuxShims
import Glibc

/// The steps in which the launcher splits into a hook and its warden.
enum HookProcess {
    /// Blocks all signals.
    ///
    /// - Returns: the signals that were blocked before.
    static func blockSignals() -> sigset_t {
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        sigprocmask(SIG_SETMASK, &all, &before)
        return before
    }

    /// Opens the process that started this one.
    ///
    /// - Parameter expected: its process id, if known.
    /// - Returns: a pidfd, readable once the process has ended; -1 if the kernel gives none.
    /// - Throws: `SandboxError` if it has ended already.
    static func openClient(_ expected: Int32?) throws(SandboxError) -> Int32 {
        let parent = getppid()
        let file = CLinuxShims_pidfd_open(parent)
        // If the parent is still the same, its id was not reused.
        guard getppid() == parent, expected ?? parent == parent else {
            if file >= 0 { close(file) }
            throw .notRestricted("the process that asked for it has gone")
        }
        return file
    }

    /// Releases the working directory and the streams, which are for the hook alone, and allows no core file.
    ///
    /// - Parameter hasStream: whether there is a stream beside the standard ones.
    static func letGoOfCaller(hasStream: Bool) {
        if hasStream { close(SandboxPlan.streamDescriptor) }
        _ = chdir("/")
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        for stream: Int32 in 0...2 where null < 0 || dup2(null, stream) < 0 { close(stream) }
        if null > 2 { close(null) }
        _ = CLinuxShims_setrlimit(CLinuxShims_RLIMIT_CORE, 0, 0)
    }

    /// Ends this process the way another process ended.
    ///
    /// - Parameter status: of the other process, as in waitpid(2).
    static func end(as status: Int32) -> Never {
        let signal = status & 0x7f
        guard signal != 0 else { _exit((status >> 8) & 0xff) }
        Glibc.signal(signal, SIG_DFL)
        var only = sigset_t()
        sigemptyset(&only)
        sigaddset(&only, signal)
        sigprocmask(SIG_UNBLOCK, &only, nil)
        kill(getpid(), signal)
        _exit(128 + signal)
    }
}
