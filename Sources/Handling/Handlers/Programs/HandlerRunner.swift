import Foundation
import Glibc
package import HandlerCatalog
import HookSandbox
package import Logging
import Programs
package import Sharing
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
        try await run(program, call, output: nil, stream: nil)
    }

    /// - Parameters:
    ///   - output: the program's standard output, the caller's; nil to keep it like standard error.
    ///   - stream: the contents of its item, if it reads them from a pipe. A program that cannot get all of them is killed
    ///     before it sees their end; then the outcome says why.
    func run(
        _ program: HandlerProgram, _ call: HookCall, output: Int32? = nil, stream: StreamPipe? = nil
    ) async throws(CancellationError) -> AttemptOutcome {
        guard !Task.isCancelled else { throw CancellationError() }
        let started: Started
        do {
            let input = try noting(call).documentFile(program.settings)
            defer { try? input.close() }
            started = try await start(
                program, arguments: call.arguments, environment: call.environment, input: input.rawValue,
                output: output, stream: stream?.output)
        } catch {
            return LaunchError.outcome(of: error, program)
        }
        stream?.begin { Task { await started.process.endNow() } }
        let ending = await started.process.ending(within: program.timeLimit)
        let outcome: AttemptOutcome?
        switch ending {
        case .exited(let exit):
            await stream?.stop()
            outcome = await self.outcome(of: exit, started, stream?.failure)
        case .outOfTime:
            await started.process.end(grace: grace)
            outcome = await started.outcome(.later, reason: "out of time after \(program.timeLimit)")
        case .cancelled:
            await started.process.end(grace: grace)
            outcome = nil
        }
        await stream?.stop()
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
    ///   - environment: variables to set or, for nil, to remove; of the others it gets those of its ``ProgramVariables``.
    ///   - input: its standard input; stays the caller's.
    ///   - output: its standard output, the caller's; nil to capture it like standard error.
    ///   - stream: what it gets as `SandboxPlan.streamDescriptor`, the caller's; nil for nothing.
    ///   - limits: of its resources.
    func start(
        _ program: HandlerProgram,
        arguments: [String],
        environment: [String: String?],
        input: Int32,
        output: Int32? = nil,
        stream: Int32? = nil,
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
            copyFolders: program.copyFolders + [copies?.folder(of: program.identifier)].compactMap(\.self),
            hasStream: stream != nil,
            readablePaths: program.readablePaths,
            writablePaths: program.writablePaths,
            allowsNetwork: program.allowsNetwork,
            allowsSockets: program.allowsSockets,
            // The bundle is closed even if it is a link to a folder elsewhere.
            forbiddenPlaces: forbiddenPlaces + (program.isBundle ? [program.bundle] : []),
            client: getpid(),
            limits: limits
        )
        var environment = program.variables.passed(ProcessInfo.processInfo.environment)
            .mapValues(String?.some).merging(environment) { $1 }
        environment.merge(SettingVariables.environment(program.settings)) { $1 }
        environment["WAFT_PROTECTED_DATA_AVAILABLE"] = .some(copies?.isProtectedDataAvailable.map { $0 ? "1" : "0" })
        environment["WAFT_DATA"] = .some(program.dataFolder)
        environment[SourceApplication.variable] = .some(SourceApplication.valid(program.identifier))
        do {
            let start = try plan.start(program: launcher)
            let parcel = try stream.map { try PassedStreams.pack(input: input, stream: $0) }
            defer { if let parcel { close(parcel) } }
            let capture = OutputCapture(name: program.identifier, logger: logger)
            let (pipe, writing) = try DrainedPipe.make { capture.take($0) }
            defer { close(writing) }
            do {
                let process = try await Program(
                    start.program, start.arguments,
                    environment: environment.compactMapValues(\.self).merging(start.environment) { $1 },
                    folder: program.folder, hasOwnGroup: true
                ).start(input: parcel ?? input, output: output ?? writing, error: writing)
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
    ///
    /// - Parameter cut: why it did not get all of its stream. Its own exit code counts all the same: it had not seen the
    ///   end of the stream when it left.
    private func outcome(
        of exit: ProgramExit, _ started: Started, _ cut: ClearCopyError? = nil
    ) async -> AttemptOutcome {
        switch exit {
        case .signal where cut != nil, .unknown where cut != nil:
            let (answer, reason) = cut?.answer ?? (.later, "")
            return await started.outcome(answer, reason: reason)
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

/// The variables `WAFT_SETTING_KEY` with the values of a handler's settings.
enum SettingVariables {
    private static let prefix = "WAFT_SETTING_"
    /// Bytes of a key that has a variable.
    private static let longestKey = 64

    /// Variables to set or, for nil, to remove: those of the receiver's own environment are not the handler's.
    ///
    /// A key with other characters than letters, digits and `_` has no variable; the document has all keys.
    static func environment(_ settings: [String: HandlerSettingValue]) -> [String: String?] {
        var variables: [String: String?] = [:]
        for name in ProcessInfo.processInfo.environment.keys where name.hasPrefix(prefix) {
            variables.updateValue(nil, forKey: name)
        }
        for (key, value) in settings where isName(key) { variables[prefix + key] = value.text }
        return variables
    }

    private static func isName(_ key: String) -> Bool {
        (1...longestKey).contains(key.utf8.count)
            && key.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
