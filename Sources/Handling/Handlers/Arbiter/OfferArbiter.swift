import Glibc
package import HandlerCatalog
package import HookSandbox
package import Logging
import Programs
import Sharing
import Synchronization
import SystemPackage

/// The arbiter's answer to an offer.
package enum ArbiterAnswer: Hashable, Sendable {
    case accept
    /// The sender gets the reason: one line without control characters, at most `OfferArbiter.reasonBytes` bytes.
    /// Empty if the arbiter gave none.
    case decline(reason: String)
    /// The arbiter has no opinion, or it failed: others decide. The reason is one line for the log, fit to be shown.
    case undecided(reason: String)
}

/// A program of the configuration that judges offers before people do.
///
/// It is executed directly, with `offer` as its one argument, the offer as one line of JSON on standard input, and the
/// hook contract's rules for streams, groups and signals. Its exit code is its answer: 0 accepts, 1 declines, 2 and 75
/// leave the decision to others. So does every failure: a broken arbiter must neither accept nor decline an offer. The
/// first line of its standard output is the reason for a decline. Its sandbox allows writing only in its `TMPDIR`,
/// which is made for each offer, and closes the Inbox.
package struct OfferArbiter: Sendable {
    /// Bytes of standard output that can be the reason.
    package static let reasonBytes = 200
    /// Number of arbiters that run at once; other offers wait for their turn.
    package static let maximumAtOnce = 4
    /// The default time limit of a call.
    package static let timeLimit: Duration = .seconds(10)

    private static let identifier = "org.waft.arbiter"
    /// The sandbox needs a path for the Inbox: this empty folder.
    private static let emptyFolder = "no-inbox"
    /// Characters of standard error that are logged.
    private static let complaintLength = 200

    private let program: HandlerProgram
    private let runner: HandlerRunner
    private let places = ArbiterSlots(count: OfferArbiter.maximumAtOnce)

    /// - Parameters:
    ///   - path: of the executable; a relative one is taken from the working directory.
    ///   - scratchFolder: absolute path of a folder for temporary files, 0700; made if missing, but not its parent. No
    ///     other program writes in it. `HandlerRunner.sweep` of the same folder removes the remains of a crash.
    ///   - timeLimit: more than 0.
    ///   - rules: the paths that it may read, network and Unix sockets; writable paths are ignored.
    ///   - forbiddenPlaces: as in `HandlerRunner`.
    ///   - grace: time between the request to leave and the kill.
    ///   - launcher: a program that calls `SandboxedLaunch.runIfAsked` first.
    package init(
        path: String,
        scratchFolder: String,
        timeLimit: Duration = OfferArbiter.timeLimit,
        sandbox: SandboxPlan.Level = .strict,
        rules: LaunchRules = LaunchRules(),
        forbiddenPlaces: [String] = [],
        grace: Duration = .seconds(2),
        launcher: String = SandboxPlan.launcher,
        logger: Logger
    ) {
        let inbox = scratchFolder + "/" + Self.emptyFolder
        var rules = rules
        rules.writablePaths = []
        program = HandlerProgram.configured(
            Self.identifier, name: "arbiter", path: path, timeLimit: timeLimit, sandbox: sandbox, rules: rules)
        runner = HandlerRunner(
            inbox: inbox, scratchFolder: scratchFolder, forbiddenPlaces: forbiddenPlaces, grace: grace,
            launcher: launcher, logger: logger)
    }

    /// Asks about an offer.
    ///
    /// If the task is cancelled, the program is ended with all processes that it has started. The answer is then
    /// meaningless.
    package func ask(_ facts: OfferFacts) async -> ArbiterAnswer {
        guard await places.take() else { return .undecided(reason: "the offer is gone") }
        defer { places.giveBack() }
        let answer = await run(facts)
        log(answer, facts)
        return answer
    }

    private func run(_ facts: OfferFacts) async -> ArbiterAnswer {
        let heard = FirstLine(limit: Self.reasonBytes)
        let started: Started
        let output: DrainedPipe
        do {
            try ScratchFolder.makeEmpty(runner.inbox)
            let input = try facts.documentFile()
            defer { try? input.close() }
            let (pipe, writing) = try DrainedPipe.make { heard.take($0) }
            defer { close(writing) }
            output = pipe
            do {
                started = try await runner.start(
                    program, arguments: ["offer"], environment: facts.environment, input: input.rawValue,
                    output: writing)
            } catch {
                pipe.close()
                throw error
            }
        } catch {
            return .undecided(reason: ShownText.escaped(LaunchError.outcome(of: error, program).reason))
        }
        let ending = await started.process.ending(within: program.timeLimit)
        let answer: ArbiterAnswer
        switch ending {
        case .exited(let exit):
            await output.catchUp()
            answer = await self.answer(exit, started, heard)
        case .outOfTime:
            await started.process.end(grace: runner.grace)
            answer = .undecided(reason: "out of time after \(program.timeLimit)")
        case .cancelled:
            await started.process.end(grace: runner.grace)
            answer = .undecided(reason: "the offer is gone")
        }
        // The output of processes that it has left running is not read.
        output.close()
        await started.finish(runner.leftovers)
        return answer
    }

    private func answer(_ exit: ProgramExit, _ started: Started, _ heard: FirstLine) async -> ArbiterAnswer {
        switch exit {
        case .code(0): return .accept
        case .code(1): return .decline(reason: heard.text)
        case .code(2), .code(75): return .undecided(reason: "it has no opinion")
        case .code(let code):
            if let failure = await started.launchFailure(exitCode: code) {
                return .undecided(reason: ShownText.escaped(LaunchError.reason(failure, started.program).reason))
            }
            return .undecided(reason: await complaint("exit code \(code)", started))
        case .signal(let signal):
            return .undecided(reason: await complaint("ended by signal \(signal)", started))
        case .unknown:
            return .undecided(reason: "how it ended is not known")
        }
    }

    /// Adds the end of its standard error.
    private func complaint(_ reason: String, _ started: Started) async -> String {
        await started.pipe.catchUp()
        let lines = String(decoding: started.capture.tail, as: UTF8.self).split(whereSeparator: \.isNewline)
        guard let last = lines.last else { return reason }
        return reason + ": " + ShownText.escaped(String(last.prefix(Self.complaintLength)))
    }

    private func log(_ answer: ArbiterAnswer, _ facts: OfferFacts) {
        let (word, reason) =
            switch answer {
            case .accept: ("accept", "")
            case .decline(let reason): ("decline", reason)
            case .undecided(let reason): ("undecided", reason)
            }
        runner.logger.info(
            "the arbiter answered",
            metadata: ["peer": "\(facts.peer.shown)", "answer": "\(word)", "reason": "\(reason)"])
    }
}

/// The beginning of a program's output, up to the end of its first line.
private final class FirstLine: Sendable {
    private let limit: Int
    private let bytes = Mutex<[UInt8]>([])

    init(limit: Int) {
        self.limit = limit
    }

    func take(_ piece: UnsafeRawBufferPointer) {
        bytes.withLock { $0.append(contentsOf: piece.prefix(limit - $0.count)) }
    }

    /// Trimmed, and at most `limit` bytes.
    var text: String {
        let line = bytes.withLock { $0.prefix { $0 != UInt8(ascii: "\n") } }
        let escaped = ShownText.escaped(String(decoding: line, as: UTF8.self).replacing("\t", with: " "))
        let words = escaped.drop { $0 == " " }
        var scalars = words.unicodeScalars
        // The cut can leave half a character, and escaping lengthens the text.
        while scalars.last == "\u{FFFD}" || scalars.last == " " || String(scalars).utf8.count > limit {
            scalars.removeLast()
        }
        return String(scalars)
    }
}

/// Places for programs that run at once.
private final class ArbiterSlots: Sendable {
    private struct State {
        var free: Int
        var waiting: [(number: Int, continuation: CheckedContinuation<Bool, Never>)] = []
        var next = 0
    }

    private let state: Mutex<State>

    init(count: Int) {
        state = Mutex(State(free: count))
    }

    /// Waits for a place, the longest waiting first.
    /// - Returns: false if the task was cancelled first: there is no place to give back.
    func take() async -> Bool {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    if state.free > 0 {
                        state.free -= 1
                        return true
                    }
                    state.waiting.append((number, continuation))
                    return nil
                }
                if let now { continuation.resume(returning: now) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0) }
            }
            waiter?.continuation.resume(returning: false)
        }
    }

    func giveBack() {
        let next = state.withLock { state in
            if state.waiting.isEmpty {
                state.free += 1
                return nil as CheckedContinuation<Bool, Never>?
            }
            return state.waiting.removeFirst().continuation
        }
        next?.resume(returning: true)
    }
}
