import CLinuxShims
import Glibc

/// The launcher: a program of Waft that starts a hook under its rules and stays as its warden.
package enum SandboxedLaunch {
    /// Exit codes of a launcher that started no hook. Few hooks use them, and the line on standard error makes them
    /// unambiguous. A shell script would exit with 127 for a command that it does not find.
    static let exitNotRestricted: Int32 = 118
    static let exitNotExecuted: Int32 = 119
    /// How the launcher's one line begins.
    static let linePrefix = "waft-sandbox: "

    /// Does nothing, unless this program was started as the launcher: then it does not return.
    ///
    /// Call it first in `main`: the rules bind this thread and all that it starts, so no other thread may run yet.
    ///
    /// - Parameter arguments: the program's arguments, its own name first; no more than two matter.
    package static func runIfAsked(arguments: [String] = firstArguments) {
        guard arguments.count >= 2, arguments[1] == SandboxPlan.verb else { return }
        let failure = run()
        let line = linePrefix + failure.message.replacing("\n", with: " ") + "\n"
        line.withCString { _ = write(STDERR_FILENO, $0, strlen($0)) }
        // Not exit(3): no other code of this program may run any more.
        _exit(failure.isExecution ? exitNotExecuted : exitNotRestricted)
    }

    /// Not `CommandLine.arguments`: its first use keeps all arguments permanently, perhaps tens of thousands.
    package static var firstArguments: [String] {
        (0..<min(2, Int(CommandLine.argc))).compactMap { CommandLine.unsafeArgv[$0].map { String(cString: $0) } }
    }

    /// Starts the hook and stays as its warden, or returns why there is no hook. It returns in the process that should
    /// become the hook or, if there is none, in the launcher.
    private static func run() -> SandboxError {
        do throws(SandboxError) {
            guard let text = getenv(SandboxPlan.variable) else {
                throw .invalidPlan("this is for Waft's own use, and there is none")
            }
            let plan = try SandboxPlan(encoded: String(cString: text))
            unsetenv(SandboxPlan.variable)
            if plan.hasStream { try PassedStreams.unpack() }
            let mask = HookProcess.blockSignals()
            let client = try HookProcess.openClient(plan.client)
            if plan.level == .none {
                let reports = try WardenRelay.fork(hasStream: plan.hasStream)
                throw try startUnrestricted(plan, mask, client, reports)
            }
            throw try startRestricted(plan, mask, client)
        } catch {
            return error
        }
    }

    /// - Parameter mask: signals that the hook blocks.
    private static func startRestricted(
        _ plan: SandboxPlan, _ mask: sigset_t, _ client: Int32
    ) throws(SandboxError) -> SandboxError {
        let attributes = AttributeWarden([plan.dataFolder, plan.temporaryFolder] + plan.writablePaths)
        // Passes the listener from the hook, which makes it, to the warden.
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw .notRestricted("no pair of sockets: \(SandboxError.lastCause)")
        }
        let hook = try forkHook()
        if hook == 0 {
            // If the kernel kills the warden for lack of memory, the hook must end too.
            _ = CLinuxShims_set_parent_death_signal(SIGKILL)
            let listener = try SandboxRules.restrict(by: plan)
            if listener >= 0 {
                guard CLinuxShims_send_descriptor(ends[1], listener) == 0 else {
                    throw .notRestricted("the warden did not take over: \(SandboxError.lastCause)")
                }
                close(listener)
            }
            return execute(plan, mask)
        }
        close(ends[1])
        let listener = CLinuxShims_receive_descriptor(ends[0])
        close(ends[0])
        HookProcess.letGoOfCaller(hasStream: plan.hasStream)
        _ = CLinuxShims_be_opaque()
        if CLinuxShims_no_new_privileges() == 0 { try? SystemCallFilter.warden.install() }
        var warden = Warden(
            hook: hook, charge: .descendants, client: client, listener: listener, attributes: attributes)
        warden.run { HookProcess.end(as: $0) }
        _exit(0)
    }

    private static func startUnrestricted(
        _ plan: SandboxPlan, _ mask: sigset_t, _ client: Int32, _ reports: Int32
    ) throws(SandboxError) -> SandboxError {
        let hook = try forkHook()
        if hook == 0 { return execute(plan, mask) }
        HookProcess.letGoOfCaller(hasStream: plan.hasStream)
        var warden = Warden(
            hook: hook, charge: .group, client: client, listener: -1, attributes: AttributeWarden([]))
        warden.run { status in
            _ = withUnsafeBytes(of: status) { write(reports, $0.baseAddress, $0.count) }
            close(reports)
        }
        _exit(0)
    }

    /// - Returns: 0 in the process that becomes the hook, which leads a process group; the hook's id in the warden.
    private static func forkHook() throws(SandboxError) -> pid_t {
        guard CLinuxShims_become_subreaper() == 0 else {
            throw .notRestricted("this process cannot take over its descendants: \(SandboxError.lastCause)")
        }
        let hook = CLinuxShims_fork()
        guard hook >= 0 else { throw .notRestricted("no process: \(SandboxError.lastCause)") }
        // Called in both processes, so that the group exists whichever runs first.
        setpgid(hook, 0)
        return hook
    }

    /// Returns only if the kernel refused.
    private static func execute(_ plan: SandboxPlan, _ mask: sigset_t) -> SandboxError {
        var arguments: [UnsafeMutablePointer<CChar>?] = ([plan.executable] + plan.arguments).map { strdup($0) }
        // If strdup(3) finds no memory, its nil would end the arguments too early.
        guard !arguments.contains(where: { $0 == nil }) else {
            return .notExecuted(plan.executable, SandboxError.cause(ENOMEM))
        }
        arguments.append(nil)
        do throws(SandboxError) {
            if plan.level != .none { try SandboxRules.limitMemory(by: plan.limits) }
        } catch {
            return error
        }
        var mask = mask
        sigprocmask(SIG_SETMASK, &mask, nil)
        execv(plan.executable, arguments)
        let cause = errno
        for argument in arguments { free(argument) }
        return .notExecuted(
            plan.executable,
            cause == ENOEXEC ? "it is neither a program nor a script that begins with #!" : SandboxError.cause(cause))
    }
}

/// A launcher's failure to start a hook, as its caller sees it.
package struct SandboxLaunchFailure: Hashable, Sendable {
    /// Whether the rules were in force, and only the hook itself could not be executed.
    package let isExecution: Bool
    /// The launcher's message, one line without the newline.
    package let message: String

    /// - Parameters:
    ///   - exitCode: the exit code of the started process.
    ///   - standardError: its standard error, or the end of it.
    /// - Returns: `nil` if the exit code is the hook's own. A hook that claims to be the launcher deceives only its own
    ///   user.
    package init?(exitCode: Int32, standardError: String) {
        guard exitCode == SandboxedLaunch.exitNotRestricted || exitCode == SandboxedLaunch.exitNotExecuted,
            let line = standardError.split(separator: "\n").last, line.hasPrefix(SandboxedLaunch.linePrefix)
        else { return nil }
        isExecution = exitCode == SandboxedLaunch.exitNotExecuted
        message = String(line.dropFirst(SandboxedLaunch.linePrefix.count))
    }
}

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
