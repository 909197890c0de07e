import Glibc

/// The launcher: a program of Waft that was started to restrict itself and then become the hook.
package enum SandboxedLaunch {
    /// Exit codes of a launcher that did not become the hook. Hooks exit with such codes so seldom that, with the line
    /// on standard error, they cannot be mistaken: with 127 a shell script exits for a command that it does not find.
    static let exitNotRestricted: Int32 = 118
    static let exitNotExecuted: Int32 = 119
    /// How the launcher's one line begins.
    static let linePrefix = "waft-sandbox: "

    /// Does nothing, unless this program was started as the launcher: then it does not return.
    ///
    /// To be called first in `main`: the rules bind the calling thread and what it starts, so no other may run yet.
    ///
    /// - Parameter arguments: those of the program, its own name first; no more than two matter.
    package static func runIfAsked(arguments: [String] = firstArguments) {
        guard arguments.count >= 2, arguments[1] == SandboxPlan.verb else { return }
        let failure = run()
        let line = linePrefix + failure.message.replacing("\n", with: " ") + "\n"
        line.withCString { _ = write(STDERR_FILENO, $0, strlen($0)) }
        // Not exit(3): nothing of this program is to run any more.
        _exit(failure.isExecution ? exitNotExecuted : exitNotRestricted)
    }

    /// Not `CommandLine.arguments`, which once asked for holds all of them for good, and there may be tens of thousands.
    package static var firstArguments: [String] {
        (0..<min(2, Int(CommandLine.argc))).compactMap { CommandLine.unsafeArgv[$0].map { String(cString: $0) } }
    }

    /// Becomes the hook, or says why not.
    private static func run() -> SandboxError {
        do throws(SandboxError) {
            guard let text = getenv(SandboxPlan.variable) else {
                throw .invalidPlan("this is for Waft's own use, and there is none")
            }
            let plan = try SandboxPlan(encoded: String(cString: text))
            unsetenv(SandboxPlan.variable)
            if plan.level != .none { try SandboxRules.restrict(by: plan) }
            throw execute(plan)
        } catch {
            return error
        }
    }

    /// Returns only where the kernel refused.
    private static func execute(_ plan: SandboxPlan) -> SandboxError {
        var arguments: [UnsafeMutablePointer<CChar>?] = ([plan.executable] + plan.arguments).map { strdup($0) }
        // strdup(3) that finds no memory would end the arguments too early.
        guard !arguments.contains(where: { $0 == nil }) else {
            return .notExecuted(plan.executable, SandboxError.cause(ENOMEM))
        }
        arguments.append(nil)
        execv(plan.executable, arguments)
        let cause = errno
        for argument in arguments { free(argument) }
        return .notExecuted(
            plan.executable,
            cause == ENOEXEC ? "it is neither a program nor a script that begins with #!" : SandboxError.cause(cause))
    }
}

/// That the launcher did not become the hook, as seen by who started it.
package struct SandboxLaunchFailure: Hashable, Sendable {
    /// Whether the rules were in force, and only the hook itself could not be executed.
    package let isExecution: Bool
    /// What the launcher said, one line without the newline.
    package let message: String

    /// - Parameters:
    ///   - exitCode: that of the process started.
    ///   - standardError: what it wrote there, or the end of it.
    /// - Returns: `nil` where the exit code is the hook's own. A hook that claims to be the launcher fools nobody but
    ///   its user.
    package init?(exitCode: Int32, standardError: String) {
        guard exitCode == SandboxedLaunch.exitNotRestricted || exitCode == SandboxedLaunch.exitNotExecuted,
            let line = standardError.split(separator: "\n").last, line.hasPrefix(SandboxedLaunch.linePrefix)
        else { return nil }
        isExecution = exitCode == SandboxedLaunch.exitNotExecuted
        message = String(line.dropFirst(SandboxedLaunch.linePrefix.count))
    }
}
