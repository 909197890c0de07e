import Glibc
package import HandlerCatalog
import HookSandbox
package import Logging
package import Sharing
import Subprocess
import SystemPackage

/// Runs programs by the hook contract, and returns their answers.
///
/// A sandboxed program ends with all its processes. Processes that an unsandboxed one leaves behind keep running.
package struct HandlerRunner: Sendable {
    let inbox: String
    let scratchFolder: String
    let forbiddenPlaces: [String]
    let firstLaunches: FirstLaunches?
    /// Opens sealed items; nil if there are none.
    let copies: (any ClearCopying)?
    let grace: Duration
    let launcher: String
    let logger: Logger
    let leftovers = LeftoverPipes()

    /// - Parameters:
    ///   - inbox: absolute path of the Inbox, which exists.
    ///   - scratchFolder: absolute path of the folder in which each call gets a folder for its temporary files, 0700,
    ///     removed after it; made if it is missing. No other program writes in it.
    ///   - forbiddenPlaces: absolute paths that stay closed to every sandboxed program: `SandboxPlan.forbiddenPlaces`.
    ///   - firstLaunches: records first launches; nil to ask at every launch.
    ///   - copies: opens sealed items; nil if there are none.
    ///   - grace: time between the request to leave and the kill.
    ///   - launcher: a program that calls `SandboxedLaunch.runIfAsked` first.
    package init(
        inbox: String,
        scratchFolder: String,
        forbiddenPlaces: [String] = [],
        firstLaunches: FirstLaunches? = nil,
        copies: (any ClearCopying)? = nil,
        grace: Duration = .seconds(5),
        launcher: String = SandboxPlan.launcher,
        logger: Logger
    ) {
        self.inbox = inbox
        self.scratchFolder = scratchFolder
        self.forbiddenPlaces = forbiddenPlaces
        self.firstLaunches = firstLaunches
        self.copies = copies
        self.grace = grace
        self.launcher = launcher
        self.logger = logger
    }

    /// Removes the remains of calls that a crash cut off. Call it before the first call. Blocks on the disk.
    package func sweep() {
        ScratchFolder.sweep(scratchFolder)
    }

    /// Starts the program with a call, and waits for its answer: its exit code.
    ///
    /// Processes that it leaves behind end with it or, without a sandbox, keep running; their output is read and
    /// logged.
    /// - Throws: if the task is cancelled: the program has been ended, and this attempt does not count.
    package func run(_ program: HandlerProgram, _ call: HookCall) async throws(CancellationError) -> AttemptOutcome {
        try await run(program, call, output: nil)
    }

    /// - Parameter output: the program's standard output, the caller's; nil to keep it like standard error.
    func run(
        _ program: HandlerProgram, _ call: HookCall, output: Int32?
    ) async throws(CancellationError) -> AttemptOutcome {
        guard !Task.isCancelled else { throw CancellationError() }
        let started: Started
        do {
            let input = try noting(call).documentFile(program.settings)
            defer { try? input.close() }
            started = try await start(
                program, arguments: call.arguments, environment: call.environment, input: input.rawValue, output: output
            )
        } catch {
            return LaunchError.outcome(of: error, program)
        }
        let ending = await started.process.ending(within: program.timeLimit)
        let outcome: AttemptOutcome?
        switch ending {
        case .exited(let exit):
            outcome = await self.outcome(of: exit, started)
        case .outOfTime:
            await started.process.end(grace: grace)
            outcome = await started.outcome(.later, reason: "out of time after \(program.timeLimit)")
        case .cancelled:
            await started.process.end(grace: grace)
            outcome = nil
        }
        await started.finish(leftovers)
        guard let outcome else { throw CancellationError() }
        log(outcome, program, call)
        return outcome
    }

    /// Asks all questions that the program wants before the first URL, even after a no. Asks `first-launch` until this
    /// version of the bundle has said yes.
    ///
    /// - Returns: nil if all answers are yes; otherwise the first other answer.
    /// - Throws: as `run`.
    package func launch(
        _ program: HandlerProgram, _ call: HookCall
    ) async throws(CancellationError) -> AttemptOutcome? {
        var first: AttemptOutcome?
        let identifier = BundleIdentifier(program.identifier)
        for question in LaunchRules.Call.allCases where program.calls.contains(question) {
            let isFirst = question == .firstLaunch
            if isFirst, let identifier, firstLaunches?.isDone(identifier, version: program.version) == true { continue }
            var outcome = try await run(program, call.asking(question))
            if outcome.answer == .yes {
                if isFirst, let identifier { note(identifier, program.version) }
                continue
            }
            outcome.reason = question.rawValue + ": " + (outcome.reason.isEmpty ? "it said no" : outcome.reason)
            first = first ?? outcome
            if outcome.answer != .no { break }
        }
        return first
    }

    private func note(_ identifier: BundleIdentifier, _ version: String) {
        do {
            try firstLaunches?.note(identifier, version: version)
        } catch {
            logger.warning(
                "a first launch cannot be stored: the handler will be asked again",
                metadata: ["handler": "\(identifier)", "reason": "\(error)"])
        }
    }

    /// The call with the present lock.
    func noting(_ call: HookCall) -> HookCall {
        var call = call
        call.isProtectedDataAvailable = copies?.isProtectedDataAvailable
        return call
    }

    // MARK: Starting

    /// - Parameters:
    ///   - environment: variables to set or, for nil, to remove.
    ///   - input: its standard input; stays the caller's.
    ///   - output: its standard output, the caller's; nil to capture it like standard error.
    ///   - limits: of its resources.
    func start(
        _ program: HandlerProgram,
        arguments: [String],
        environment: [String: String?],
        input: Int32,
        output: Int32? = nil,
        limits: ResourceLimits = ResourceLimits()
    ) async throws -> Started {
        if let folder = program.dataFolder {
            do {
                try DataFolder.make(folder)
            } catch {
                throw LaunchError.noDataFolder(folder, error)
            }
        }
        guard access(launcher, X_OK) == 0 else { throw LaunchError.noLauncher(launcher) }
        let scratch: ScratchFolder
        do {
            scratch = try ScratchFolder.make(in: scratchFolder)
        } catch {
            throw LaunchError.noScratchFolder(scratchFolder, error)
        }
        let plan = SandboxPlan(
            level: program.sandbox,
            executable: program.executable,
            arguments: arguments,
            bundle: program.bundle,
            dataFolder: program.dataFolder ?? scratch.path,
            temporaryFolder: scratch.path,
            inbox: inbox,
            clearFolder: copies?.folder(of: program.identifier),
            readablePaths: program.readablePaths,
            writablePaths: program.writablePaths,
            allowsNetwork: program.allowsNetwork,
            allowsSockets: program.allowsSockets,
            // The bundle is closed even if it is a link to a folder elsewhere.
            forbiddenPlaces: forbiddenPlaces + (program.isBundle ? [program.bundle] : []),
            client: getpid(),
            limits: limits
        )
        var environment = environment
        environment.merge(SettingVariables.environment(program.settings)) { $1 }
        environment["WAFT_PROTECTED_DATA_AVAILABLE"] = .some(copies?.isProtectedDataAvailable.map { $0 ? "1" : "0" })
        environment["WAFT_DATA"] = .some(program.dataFolder)
        environment[SourceApplication.variable] = .some(SourceApplication.valid(program.identifier))
        do {
            let start = try plan.start(program: launcher)
            let capture = OutputCapture(name: program.identifier, logger: logger)
            let (pipe, writing) = try DrainedPipe.make { capture.take($0) }
            defer { close(writing) }
            do {
                let process = try await ProgramProcess.start(
                    ProgramProcess.Start(
                        executable: start.program,
                        arguments: start.arguments,
                        environment: environment.merging(start.environment.mapValues { .some($0) }) { $1 },
                        folder: program.folder,
                        input: input,
                        output: output ?? writing,
                        error: writing
                    ))
                return Started(
                    process: process, program: program, plan: plan, scratch: scratch, capture: capture, pipe: pipe,
                    logger: logger)
            } catch {
                pipe.close()
                throw error
            }
        } catch {
            await scratch.remove()
            throw error
        }
    }

    // MARK: Answers

    /// The meaning of an exit.
    private func outcome(of exit: ProgramExit, _ started: Started) async -> AttemptOutcome {
        switch exit {
        case .code(0): return await started.outcome(.yes, exitCode: 0)
        case .code(1): return await started.outcome(.no, exitCode: 1)
        case .code(75): return await started.outcome(.later, exitCode: 75, reason: "exit code 75")
        case .code(let code):
            if let failure = await started.launchFailure(exitCode: code) {
                let trouble = LaunchError.reason(failure, started.program)
                return await started.outcome(trouble.isPassing ? .later : .failed, reason: trouble.reason)
            }
            return await started.outcome(.failed, exitCode: code, reason: "exit code \(code)")
        case .signal(let signal):
            return await started.outcome(.later, signal: signal, reason: "ended by signal \(signal)")
        case .unknown:
            return await started.outcome(.later, reason: "how it ended is not known")
        }
    }

    func log(_ outcome: AttemptOutcome, _ program: HandlerProgram, _ call: HookCall) {
        logger.info(
            "a handler answered",
            metadata: [
                "handler": "\(program.identifier)", "call": "\(call.verb.rawValue)",
                "number": "\(call.number?.description ?? "-")", "answer": "\(outcome.answer.rawValue)",
                "reason": "\(ShownText.escaped(outcome.reason))",
            ])
    }
}

/// A program that was started, with its resources.
struct Started: Sendable {
    let process: ProgramProcess
    let program: HandlerProgram
    let plan: SandboxPlan
    let scratch: ScratchFolder
    /// Its output.
    let capture: OutputCapture
    let pipe: DrainedPipe
    let logger: Logger

    /// The answer with the end of its output, and with remarks on refused writes.
    func outcome(
        _ answer: AttemptOutcome.Answer, exitCode: Int? = nil, signal: Int? = nil, reason: String = ""
    ) async -> AttemptOutcome {
        await pipe.catchUp()
        let tail = capture.tail
        let remarks = denials(in: tail)
        for remark in remarks {
            logger.warning("\(remark)", metadata: ["handler": "\(program.identifier)"])
        }
        return AttemptOutcome(
            answer, exitCode: exitCode, signal: signal, reason: reason,
            standardError: KeptOutput.text(tail, remarks: remarks))
    }

    /// The readable lines about writes that the sandbox seems to have refused.
    private func denials(in tail: [UInt8]) -> [String] {
        guard plan.level != .none, HookSandbox.support.abi > 0 else { return [] }
        let owner: SandboxDenial.Owner = program.isConfiguredHook ? .configuredHook : .bundle
        return SandboxDenial.denials(in: String(decoding: tail, as: UTF8.self), plan: plan)
            .map { ShownText.escaped($0.text(for: owner)) }
    }

    func launchFailure(exitCode: Int) async -> SandboxLaunchFailure? {
        guard let code = Int32(exactly: exitCode) else { return nil }
        await pipe.catchUp()
        return SandboxLaunchFailure(exitCode: code, standardError: String(decoding: capture.tail, as: UTF8.self))
    }

    /// Removes the resources of the program. Its output is still read as long as any process holds the pipe.
    func finish(_ leftovers: LeftoverPipes) async {
        capture.stopKeeping()
        if !pipe.isAtEnd { leftovers.keep(pipe) }
        await scratch.remove()
    }
}
