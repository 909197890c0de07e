import Glibc
import HookSandbox
import Sharing
import Subprocess
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
            if let flaw = flaw(of: program) { return LaunchError(reason: flaw, isPassing: false) }
            // The program file is open for writing.
            let isBusy = failure.message.hasSuffix(String(cString: strerror(ETXTBSY)))
            return LaunchError(reason: failure.message, isPassing: isBusy)
        }
        return LaunchError(reason: failure.message, isPassing: false)
    }

    private static func trouble(_ error: any Error, _ program: HandlerProgram) -> LaunchError {
        if let trouble = error as? LaunchError { return trouble }
        if let error = error as? SandboxError { return LaunchError(reason: error.message, isPassing: false) }
        let cause = (error as? SubprocessError).map(\.underlyingError) ?? (error as? Errno)
        if let cause, passing.contains(cause) {
            return LaunchError(reason: "\(program.executable) could not be started now: \(cause)", isPassing: true)
        }
        if let flaw = flaw(of: program) { return LaunchError(reason: flaw, isPassing: false) }
        if cause == .execFormatError {
            let reason = "\(program.executable) is neither a program nor a script that begins with #!"
            return LaunchError(reason: reason, isPassing: false)
        }
        let why = cause.map { "\($0)" } ?? "\(error)"
        return LaunchError(reason: "\(program.executable) could not be started: \(why)", isPassing: false)
    }

    /// The fault in the files of a program that the kernel refused; nil if none is visible.
    private static func flaw(of program: HandlerProgram) -> String? {
        let path = program.executable
        var status = stat()
        guard stat(program.folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            return "its folder \(program.folder) is missing"
        }
        guard stat(path, &status) == 0 else { return "\(path) does not exist" }
        guard status.st_mode & S_IFMT == S_IFREG, access(path, X_OK) == 0 else {
            return "\(path) is not an executable file; chmod +x may be missing"
        }
        guard let interpreter = interpreter(of: path), access(interpreter, X_OK) != 0 else { return nil }
        return "\(path) names \(ShownText.escaped(interpreter)) in its first line, which cannot be executed: "
            + String(cString: strerror(errno))
    }

    /// The interpreter after `#!` in the first line.
    private static func interpreter(of path: String) -> String? {
        guard let file = try? FileDescriptor.open(path, .readOnly, options: [.nonBlocking, .closeOnExec]) else {
            return nil
        }
        defer { try? file.close() }
        // The kernel reads this many bytes (BINPRM_BUF_SIZE).
        var bytes = [UInt8](repeating: 0, count: 256)
        guard let count = try? bytes.withUnsafeMutableBytes({ try file.read(into: $0) }), count > 2,
            bytes.starts(with: "#!".utf8)
        else { return nil }
        let line = bytes[2..<count].prefix { $0 != UInt8(ascii: "\n") }
        // A line from another system ends with a CR, which is then part of the name: it is shown.
        let word = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }.first
        return word.map { String(decoding: $0, as: UTF8.self) }
    }
}
