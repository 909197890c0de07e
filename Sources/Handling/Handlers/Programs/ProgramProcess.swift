import Glibc
import HookSandbox
import Subprocess
import Synchronization
import SystemPackage

/// How a process ended.
enum ProgramExit: Hashable, Sendable {
    case code(Int)
    case signal(Int)
    /// It has ended, and its exit status is lost.
    case unknown
}

/// A launcher and the program that it has started. Deinit does not end them.
final class ProgramProcess: Sendable {
    /// The program to start, and how.
    struct Start: Sendable {
        /// Absolute path.
        var executable: String
        var arguments: [String]
        /// All its variables.
        var environment: [String: String]
        var folder: String
        /// Its standard streams. The caller owns them, and closes them afterwards.
        var input: Int32
        var output: Int32
        var error: Int32
    }

    private struct State {
        var exit: ProgramExit?
        var waiting: [@Sendable (ProgramExit) -> Void] = []
    }

    /// Time limit for the end of a killed process: one that hangs in a system call of a dead disk may take for ever.
    private static let timeout: Duration = .seconds(10)

    /// Process id of the launcher.
    private let number: pid_t
    private let state: Mutex<State>

    private init(_ number: pid_t) {
        self.number = number
        state = Mutex(State())
    }

    /// - Throws: `SubprocessError` if it could not be started.
    static func start(_ start: Start) async throws -> ProgramProcess {
        var options = PlatformOptions()
        options.processGroupID = 0
        let configuration = Configuration(
            executable: .path(FilePath(start.executable)),
            arguments: Arguments(start.arguments),
            environment: .custom(
                Dictionary(uniqueKeysWithValues: start.environment.map { (Environment.Key(stringLiteral: $0), $1) })),
            workingDirectory: FilePath(start.folder),
            platformOptions: options
        )
        return try await withCheckedThrowingContinuation { continuation in
            // A separate task without cancellation: a started process is always waited for.
            Task {
                await run(configuration, start) { continuation.resume(with: $0) }
            }
        }
    }

    /// - Parameter started: called once.
    private static func run(
        _ configuration: Configuration,
        _ start: Start,
        started: (Result<ProgramProcess, any Error>) -> Void
    ) async {
        var process: ProgramProcess?
        do {
            let result = try await Subprocess.run(
                configuration,
                input: .fileDescriptor(FileDescriptor(rawValue: start.input), closeAfterSpawningProcess: false),
                output: .fileDescriptor(FileDescriptor(rawValue: start.output), closeAfterSpawningProcess: false),
                error: .fileDescriptor(FileDescriptor(rawValue: start.error), closeAfterSpawningProcess: false)
            ) { execution in
                let new = ProgramProcess(execution.processIdentifier.value)
                process = new
                started(.success(new))
            }
            switch result.terminationStatus {
            case .exited(let code): process?.ended(.code(Int(code)))
            case .signaled(let signal): process?.ended(.signal(Int(signal)))
            }
        } catch {
            if let process { process.ended(.unknown) } else { started(.failure(error)) }
        }
    }

    private func ended(_ exit: ProgramExit) {
        let waiting = state.withLock { state in
            state.exit = exit
            defer { state.waiting = [] }
            return state.waiting
        }
        for tell in waiting { tell(exit) }
    }

    /// Nil while it runs.
    var exit: ProgramExit? { state.withLock { $0.exit } }

    /// Calls `tell` once when the process has ended; at once if it has already.
    func whenEnded(_ tell: @escaping @Sendable (ProgramExit) -> Void) {
        let exit: ProgramExit? = state.withLock { state in
            if state.exit == nil { state.waiting.append(tell) }
            return state.exit
        }
        if let exit { tell(exit) }
    }

    /// Waits until it has ended, whether or not the task is cancelled.
    func ending() async -> ProgramExit {
        await withCheckedContinuation { continuation in whenEnded { continuation.resume(returning: $0) } }
    }

    /// The first event.
    enum Ending: Sendable {
        case exited(ProgramExit)
        case outOfTime
        /// The task was cancelled.
        case cancelled
    }

    /// Waits until it has ended, time is up or the task is cancelled.
    func ending(within limit: Duration) async -> Ending {
        let (endings, feed) = AsyncStream<Ending>.makeStream(bufferingPolicy: .bufferingOldest(1))
        whenEnded { feed.yield(.exited($0)) }
        let timer = Task {
            try await Task.sleep(for: limit)
            feed.yield(.outOfTime)
        }
        defer { timer.cancel() }
        for await ending in endings { return ending }
        return exit.map(Ending.exited) ?? .cancelled
    }

    /// Asks all its processes to leave, and kills the rest after `grace`. Returns when they have ended, at the latest
    /// `timeout` after the kill, even if the task is cancelled.
    ///
    /// The launcher passes the signals on, and exits once its processes have ended.
    func end(grace: Duration) async {
        guard exit == nil else { return }
        await Task { [self] in
            kill(number, SandboxPlan.leaveSignal)
            if case .outOfTime = await ending(within: grace) { kill(number, SandboxPlan.endSignal) }
            _ = await ending(within: Self.timeout)
        }.value
    }

    /// Kills all its processes, the program itself before those that it has started. Returns as `end` does.
    func endNow() async {
        guard exit == nil else { return }
        await Task { [self] in
            kill(number, SandboxPlan.endSignal)
            _ = await ending(within: Self.timeout)
        }.value
    }
}
