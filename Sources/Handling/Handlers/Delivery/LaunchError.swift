import Glibc
import HookSandbox
import Programs
import Sharing
import SystemPackage

/// Why a program could not be started, in words that help the user.
struct LaunchError: Error {
    /// One line.
    let reason: String
    /// Whether the trouble probably passes by itself, and is not the program's fault.
    let isPassing: Bool

    /// The receiver or the machine is short of something; the last: the program file is open for writing.
    private static let passing: [Errno] = [
        .resourceTemporarilyUnavailable, .noMemory, .tooManyOpenFiles, .tooManyOpenFilesInSystem, .textFileBusy,
    ]

    /// An arrival waits until the launcher is installed, so none is lost.
    static func noLauncher(_ path: String) -> LaunchError {
        LaunchError(
            reason: "\(path), which starts handlers, is missing; install wafthook beside waft and waftd",
            isPassing: true
        )
    }

    static func noScratchFolder(_ path: String, _ error: Errno) -> LaunchError {
        LaunchError(reason: "no temporary folder could be made in \(path): \(error)", isPassing: true)
    }

    static func noDataFolder(_ path: String, _ error: Errno) -> LaunchError {
        LaunchError(reason: "its data folder \(path) could not be made: \(error)", isPassing: true)
    }

    static func outcome(of error: any Error, _ program: HandlerProgram) -> AttemptOutcome {
        let trouble = trouble(error, program)
        return AttemptOutcome(trouble.isPassing ? .later : .failed, reason: trouble.reason)
    }

    /// The launcher's message.
    static func reason(_ failure: SandboxLaunchFailure, _ program: HandlerProgram) -> LaunchError {
        if failure.isExecution {
            if let flaw = program.fileFlaw { return LaunchError(reason: flaw, isPassing: false) }
            // The program file is open for writing.
            let isBusy = failure.message.hasSuffix(String(cString: strerror(ETXTBSY)))
            return LaunchError(reason: failure.message, isPassing: isBusy)
        }
        return LaunchError(reason: failure.message, isPassing: false)
    }

    private static func trouble(_ error: any Error, _ program: HandlerProgram) -> LaunchError {
        if let trouble = error as? LaunchError { return trouble }
        if let error = error as? SandboxError { return LaunchError(reason: error.message, isPassing: false) }
        let cause = (error as? ProgramError)?.cause ?? (error as? Errno)
        if let cause, passing.contains(cause) {
            return LaunchError(reason: "\(program.executable) could not be started now: \(cause)", isPassing: true)
        }
        if let flaw = program.fileFlaw { return LaunchError(reason: flaw, isPassing: false) }
        if cause == .execFormatError {
            let reason = "\(program.executable) is neither a program nor a script that begins with #!"
            return LaunchError(reason: reason, isPassing: false)
        }
        let why = cause.map { "\($0)" } ?? "\(error)"
        return LaunchError(reason: "\(program.executable) could not be started: \(why)", isPassing: false)
    }
}
