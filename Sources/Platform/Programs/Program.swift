import CLinuxShims
import Foundation
import Glibc
import Subprocess
package import SystemPackage

/// A program to start: directly, without a shell. It gets only the descriptors of its standard streams.
package struct Program: Sendable {
    /// The contents of its standard input.
    package enum Input: Sendable {
        case bytes([UInt8])
        /// It is closed here.
        case descriptor(Int32)
    }

    /// Its end.
    package struct Outcome: Sendable {
        package var exit: ProgramExit
        package var output: String
        package var errors: String
    }

    /// A path, or a name that is looked up in `PATH`.
    package var path: String
    package var arguments: [String]
    /// All its variables; nil for those of this process.
    package var environment: [String: String]?
    /// Nil for that of this process.
    package var folder: String?
    /// Whether it gets a process group of its own: a Ctrl-C for this process does not reach it.
    package var hasOwnGroup: Bool

    package init(
        _ path: String, _ arguments: [String] = [], environment: [String: String]? = nil, folder: String? = nil,
        hasOwnGroup: Bool = false
    ) {
        (self.path, self.arguments, self.environment) = (path, arguments, environment)
        (self.folder, self.hasOwnGroup) = (folder, hasOwnGroup)
    }

    /// Looks up a program in absolute folders.
    /// - Parameter searchPath: folders, separated by colons, as in `PATH`; nil for the usual ones.
    /// - Returns: nil if none of them has it.
    package static func path(of name: String, in searchPath: String?) -> String? {
        (searchPath ?? "/usr/bin:/bin").split(separator: ":").lazy.map { "\($0)/\(name)" }.first { path in
            path.utf8.first == UInt8(ascii: "/") && FileManager.default.isExecutableFile(atPath: path)
        }
    }

    /// Runs it to its end.
    /// - Parameters:
    ///   - limit: bytes of its output, and of its standard error.
    ///   - keepsErrors: whether its standard error is kept; otherwise it is dropped, and has no limit.
    ///   - steps: end it if the task is cancelled; a kill follows them.
    /// - Throws: if it could not be started, or has written more.
    package func run(
        input: Input = .bytes([]), limit: Int, keepsErrors: Bool = true, ending steps: [EndStep] = []
    ) async throws(ProgramError) -> Outcome {
        let file =
            switch input {
            case .bytes(let bytes): try memoryFile(bytes)
            case .descriptor(let file): FileDescriptor(rawValue: file)
            }
        let input = FileDescriptorInput.fileDescriptor(file, closeAfterSpawningProcess: true)
        do {
            guard keepsErrors else {
                let result = try await Subprocess.run(
                    configuration(steps), input: input, output: .string(limit: limit), error: .discarded)
                return Outcome(
                    exit: ProgramExit(result.terminationStatus), output: result.standardOutput, errors: "")
            }
            let result = try await Subprocess.run(
                configuration(steps), input: input, output: .string(limit: limit), error: .string(limit: limit))
            return Outcome(
                exit: ProgramExit(result.terminationStatus), output: result.standardOutput,
                errors: result.standardError)
        } catch {
            throw ProgramError(path, error)
        }
    }

    /// No pipe: swift-subprocess traps if a program ends before it has read all of its input from one.
    private func memoryFile(_ bytes: [UInt8]) throws(ProgramError) -> FileDescriptor {
        let file = FileDescriptor(rawValue: CLinuxShims_memory_file("input"))
        do {
            try file.writeAll(bytes)
            try file.seek(offset: 0, from: .start)
            return file
        } catch {
            try? file.close()
            throw ProgramError(path, error)
        }
    }

    /// Starts it. It goes on, whether or not the task is cancelled.
    ///
    /// Its standard streams are descriptors of the caller. The caller closes them afterwards; nil for none. (A `.sequence` of
    /// swift-subprocess loses its rest if the program has ended and the reader is slow.)
    package func start(
        input: Int32? = nil, output: Int32? = nil, error: Int32? = nil
    ) async throws(ProgramError) -> RunningProgram {
        let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
        guard nothing >= 0 else { throw ProgramError(path, Errno(rawValue: errno)) }
        defer { close(nothing) }
        let streams = [input, output, error].map { FileDescriptor(rawValue: $0 ?? nothing) }
        let start = await withCheckedContinuation { continuation in
            // A separate task without cancellation: a started process is always waited for.
            Task { await watch(streams) { continuation.resume(returning: $0) } }
        }
        return try start.get()
    }

    /// Waits for its end.
    /// - Parameter started: called once.
    private func watch(
        _ streams: [FileDescriptor], started: (Result<RunningProgram, ProgramError>) -> Void
    ) async {
        var process: RunningProgram?
        do {
            let result = try await Subprocess.run(
                configuration(),
                input: .fileDescriptor(streams[0], closeAfterSpawningProcess: false),
                output: .fileDescriptor(streams[1], closeAfterSpawningProcess: false),
                error: .fileDescriptor(streams[2], closeAfterSpawningProcess: false)
            ) { execution in
                let new = RunningProgram(execution.processIdentifier.value)
                process = new
                started(.success(new))
            }
            process?.ended(ProgramExit(result.terminationStatus))
        } catch {
            if let process { process.ended(.unknown) } else { started(.failure(ProgramError(path, error))) }
        }
    }

    private func configuration(_ steps: [EndStep] = []) -> Configuration {
        var options = PlatformOptions()
        if hasOwnGroup { options.processGroupID = 0 }
        options.teardownSequence = steps.map {
            .send(signal: Signal(rawValue: $0.signal), allowedDurationToNextStep: $0.time)
        }
        let variables = environment?.map { (Environment.Key(stringLiteral: $0), $1) }
        return Configuration(
            executable: path.utf8.contains(UInt8(ascii: "/")) ? .path(FilePath(path)) : .name(path),
            arguments: Arguments(arguments),
            environment: variables.map { .custom(Dictionary(uniqueKeysWithValues: $0)) } ?? .inherit,
            workingDirectory: folder.map { FilePath($0) }, platformOptions: options)
    }
}

/// A signal for a program that shall end, and the time that it gets then.
package struct EndStep: Sendable {
    package var signal: Int32
    package var time: Duration

    package init(_ signal: Int32, _ time: Duration) { (self.signal, self.time) = (signal, time) }
}

/// Why a program could not be run.
package struct ProgramError: Error, CustomStringConvertible {
    package let path: String
    /// Nil if it is not known.
    package let cause: Errno?
    package let description: String

    init(_ path: String, _ error: any Error) {
        self.path = path
        cause = (error as? SubprocessError)?.underlyingError ?? (error as? Errno)
        description = "\(error)"
    }
}

/// How a process ended.
package enum ProgramExit: Hashable, Sendable {
    case code(Int)
    case signal(Int)
    /// It has ended, and its exit status is lost.
    case unknown

    init(_ status: TerminationStatus) {
        switch status {
        case .exited(let code): self = .code(Int(code))
        case .signaled(let signal): self = .signal(Int(signal))
        }
    }
}
